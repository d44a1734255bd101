//go:build linux

package seccomp_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/seccomp"
)

// judge runs a filter over a system call, as the kernel does.
func judge(t *testing.T, f []unix.SockFilter, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data, nr)
	binary.LittleEndian.PutUint32(data[4:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[16+8*i:], a)
	}
	var a uint32
	for pc := 0; pc < len(f); pc++ {
		i := f[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(i.Jt)
			} else {
				pc += int(i.Jf)
			}
		}
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = binary.LittleEndian.Uint32(data[i.K:])
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(a == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(a >= i.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			jump(a&i.K != 0)
		default:
			t.Fatalf("instruction %d: code %#x", pc, i.Code)
		}
	}
	t.Fatal("the program has no end")
	return 0
}

func TestTheFilterAnswersAsItsTableSays(t *testing.T) {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !ok {
		t.Skipf("no filter for %s", runtime.GOARCH)
	}
	const (
		allow  = unix.SECCOMP_RET_ALLOW
		eperm  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		enosys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
		noAF   = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
	)
	open, closed := seccomp.Policy{}, seccomp.Policy{NoInet: true, NoUnix: true}
	for _, c := range []struct {
		what   string
		policy seccomp.Policy
		nr     uint32
		args   []uint64
		want   uint32
	}{
		{"read", open, unix.SYS_READ, nil, allow},
		{"the first of the refused", open, unix.SYS_IO_URING_SETUP, nil, eperm},
		{"the last of the refused", open, unix.SYS_VHANGUP, nil, eperm},
		{"keyctl", open, unix.SYS_KEYCTL, nil, eperm},
		{"clone3", open, unix.SYS_CLONE3, nil, enosys},
		{"a thread", open, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"a user namespace by clone", open, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"a mount namespace by unshare", open, unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWNS}, eperm},
		{"unshare of files", open, unix.SYS_UNSHARE, []uint64{unix.CLONE_FILES}, allow},
		{"typing for others", open, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
		{"typing for others, with high bits", open, unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}, eperm},
		{"the size of a window", open, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow},
		{"TCP", open, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}, allow},
		{"TCP over IPv6", open, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{"MPTCP", open, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, eperm},
		{"a Unix socket", open, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM, 0}, allow},
		{"vsock", open, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM, 0}, noAF},
		{"packets", open, unix.SYS_SOCKET, []uint64{unix.AF_PACKET, unix.SOCK_RAW, 0}, noAF},
		{"TCP where there is none", closed, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}, noAF},
		{"UDP where there is none", closed, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_DGRAM, 0}, noAF},
		{"a Unix socket where there is none", closed, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM, 0}, noAF},
		{"a pair", closed, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM, 0}, allow},
	} {
		f, err := seccomp.Filter(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(t, f, arch, c.nr, c.args...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
		}
		if got := judge(t, f, unix.AUDIT_ARCH_I386, c.nr, c.args...); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("%s, as another architecture: %#x", c.what, got)
		}
		if got := judge(t, f, arch, c.nr|0x40000000, c.args...); runtime.GOARCH == "amd64" && got != enosys {
			t.Errorf("%s, as x32: %#x", c.what, got)
		}
	}
}
