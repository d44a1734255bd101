//go:build linux

// Package seccomp writes the system call filter of the sandboxes.
//
// The filter is a deny-list over the ordinary calls of one architecture: what
// only escapes need is refused with EPERM, calls of other architectures kill
// the process, and calls that cannot be judged by their arguments (clone3)
// are answered with ENOSYS, so that programs use the old ones. It is plain BPF,
// generated here, because all of it is forty lines of jumps.
package seccomp

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Policy says which kinds of sockets the filter lets programs make.
type Policy struct {
	NoInet bool // no IPv4 and IPv6
	NoUnix bool // no Unix sockets but those of socketpair
}

// refused are the calls that get EPERM, whatever their arguments.
var refused = []uint32{
	// Large and young attack surface that build tools do not need.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	// Keyrings are not divided by namespaces.
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// Mounts and namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	// Files by handle pass by the mounts.
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	// The machine itself.
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_VHANGUP,
}

const (
	nsFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

	offNr, offArch, offArg0, offArg1, offArg2 = 0, 4, 16, 24, 32 // low halves; both architectures are little-endian

	allow = unix.SECCOMP_RET_ALLOW
	kill  = unix.SECCOMP_RET_KILL_PROCESS
	eperm = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	none  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	noAF  = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)

	x32Bit = 0x40000000 // calls of the x32 flavour carry it
)

// Filter returns the program for this architecture.
func Filter(p Policy) ([]unix.SockFilter, error) {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("no system call filter for %s", runtime.GOARCH)
	}
	var b program
	b.load(offArch)
	b.when(unix.BPF_JEQ, arch, 1, 0) // over the kill
	b.ret(kill)
	b.load(offNr)
	if runtime.GOARCH == "amd64" {
		b.answer(unix.BPF_JGE, x32Bit, none)
	}
	b.answer(unix.BPF_JEQ, unix.SYS_CLONE3, none)
	for _, nr := range refused {
		b.answer(unix.BPF_JEQ, nr, eperm)
	}
	b.call(unix.SYS_UNSHARE, func(b *program) { b.load(offArg0); b.answer(unix.BPF_JSET, nsFlags, eperm) })
	b.call(unix.SYS_CLONE, func(b *program) { b.load(offArg0); b.answer(unix.BPF_JSET, nsFlags, eperm) })
	b.call(unix.SYS_IOCTL, func(b *program) {
		b.load(offArg1)
		b.answer(unix.BPF_JEQ, unix.TIOCSTI, eperm) // types into the terminal of somebody else
		b.answer(unix.BPF_JEQ, 0x541C, eperm)       // TIOCLINUX: pastes into it
	})
	b.call(unix.SYS_SOCKET, p.sockets)
	b.ret(allow)
	return b, nil
}

// sockets allows few families: others (vsock, packet, alg, bluetooth …) are not
// divided by a network namespace or are attack surface. MPTCP, SCTP and the like
// pass by rules that name TCP.
func (p Policy) sockets(b *program) {
	b.load(offArg0)
	var families []uint32
	if !p.NoUnix {
		families = append(families, unix.AF_UNIX)
	}
	families = append(families, unix.AF_NETLINK)
	for _, f := range families {
		b.answer(unix.BPF_JEQ, f, allow)
	}
	if p.NoInet {
		b.ret(noAF)
		return
	}
	b.when(unix.BPF_JEQ, unix.AF_INET, 2, 0)
	b.when(unix.BPF_JEQ, unix.AF_INET6, 1, 0)
	b.ret(noAF)
	b.load(offArg2)
	b.answer(unix.BPF_JEQ, unix.IPPROTO_MPTCP, eperm)
	b.ret(allow)
}

// Bytes returns the program as bwrap --seccomp reads it.
func Bytes(f []unix.SockFilter) []byte {
	out := make([]byte, 0, len(f)*8)
	for _, i := range f {
		out = binary.NativeEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out
}

// Apply puts the program over the calling thread and what it starts, for good.
// The thread must not be able to gain privileges.
func Apply(f []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("install the system call filter: %w", errno)
	}
	return nil
}
