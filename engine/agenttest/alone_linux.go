package agenttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Alone runs a test again in a process whose network has nothing but loopback,
// so that no program in it can call anybody, and reports whether this is that
// process: if not, the test is over. Where the machine does not allow it, this
// process has to do; so it does with HARNESS_TEST_ALONE=0, for who wants to run
// one of its subtests.
func Alone(t *testing.T) bool {
	t.Helper()
	switch os.Getenv("HARNESS_TEST_ALONE") {
	case "0":
		return true
	case "1":
		if err := loopback(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$"}
	if d, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+time.Until(d).String())
	}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "HARNESS_TEST_ALONE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no network namespace on this machine: %v", err)
		}
		t.Logf("no network namespace on this machine: %v", err)
		return true
	}
	if err != nil {
		t.Errorf("in a namespace of its own: %v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("in a namespace of its own:\n%s", out)
	}
	return false
}

// loopback brings the namespace's own device up, and checks that there is no
// other.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Flags&net.FlagLoopback == 0 && one.Flags&net.FlagUp != 0 {
			return fmt.Errorf("the namespace has %s", one.Name)
		}
	}
	return nil
}
