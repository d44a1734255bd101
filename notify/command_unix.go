//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// apart gives a command a process group of its own, which ends as one.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
