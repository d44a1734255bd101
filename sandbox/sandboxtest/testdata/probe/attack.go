//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attacks return nil if they have done what they wanted, as far as they can see.
var attacks = map[string]func(args []string) error{
	"write":   func(a []string) error { return os.WriteFile(a[0], []byte("evil"), 0o644) },
	"append":  appendTo,
	"read":    func(a []string) error { return show(a[0]) },
	"environ": environ,
	"ptrace": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		return unix.PtraceSeize(pid)
	},
	"signal": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		return unix.Kill(pid, unix.SIGKILL)
	},
	"see": func(a []string) error {
		b, err := os.ReadFile("/proc/" + a[0] + "/cmdline")
		if err == nil && !bytes.Contains(b, []byte(a[1])) {
			err = errors.New("that is somebody else")
		}
		return err
	},
	"dial": func(a []string) error { return dial(a[0], a[1]) },
	"mptcp": func(a []string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		at, err := netip.ParseAddrPort(a[0])
		if err != nil {
			return err
		}
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte("evil"))
		return err
	},
	"symlink": func(a []string) error {
		if err := os.Symlink(a[0], "link"); err != nil {
			return err
		}
		return appendTo([]string{"link"})
	},
	"hardlink": func(a []string) error {
		if err := os.Link(a[0], "hard"); err != nil {
			return err
		}
		return appendTo([]string{"hard"})
	},
	"readlinked": func(a []string) error {
		if err := os.Link(a[0], "key"); err != nil {
			return err
		}
		return show("key")
	},
	"readroot": func(a []string) error {
		return show(filepath.Join("/proc", strconv.Itoa(os.Getppid()), "root", a[0]))
	},
	"procroot": func(a []string) error {
		return appendTo([]string{filepath.Join("/proc", strconv.Itoa(os.Getppid()), "root", a[0])})
	},
	"userns":   func([]string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"io_uring": ioUring,
	"keyctl": func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	},
	"bpf": func([]string) error {
		var attr [64]byte // a map of one integer
		attr[0], attr[4], attr[8], attr[12] = 2, 4, 4, 1
		fd, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), uintptr(len(attr)))
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	},
	"mount": func(a []string) error {
		return unix.Mount("none", a[0], "tmpfs", 0, "")
	},
	"unmount": func(a []string) error {
		err := unix.Unmount(a[0], unix.MNT_DETACH)
		return errors.Join(err, show(a[1]))
	},
	"plant": func(a []string) error { // a link in the place of a directory
		_ = os.RemoveAll(a[1])
		return os.Symlink(a[0], a[1])
	},
	"exchange": func(a []string) error {
		return unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE)
	},
	"chmod": func(a []string) error { return os.Chmod(a[0], 0o777) },
	"vsock": func([]string) error {
		fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	},
}

func show(name string) error {
	b, err := os.ReadFile(name)
	fmt.Printf("%s\n", b)
	return err
}

func appendTo(a []string) error {
	f, err := os.OpenFile(a[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("evil")
	return errors.Join(err, f.Close())
}

// environ looks for a secret in the environment of every process.
func environ(a []string) error {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range found {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(a[0])) {
			return nil
		}
	}
	return fmt.Errorf("not in %d environments", len(found))
}

func dial(network, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("evil"))
	return err
}

func ioUring([]string) error {
	var params [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}
