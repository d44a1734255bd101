package gateway_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"harness"
	"harness/gateway"
)

// TestAProcessOfAnotherUserIsNoServerOfOurs: whoever took the port of one that
// is gone would be sent its owner's token.
func TestAProcessOfAnotherUserIsNoServerOfOurs(t *testing.T) {
	t.Parallel()
	pid, done := 1, make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		if os.Getuid() == 0 {
			const nobody = 65534
			pid = os.Getppid()
			if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
				t.Error(e)
				return
			}
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Logf("process %d is ours", pid)
		} else if gateway.Alive(pid) {
			t.Error("it is taken for one of ours")
		}
	}()
	<-done
}

// TestALaterProcessOfTheSameIDIsNotTheServer: numbers are used again.
func TestALaterProcessOfTheSameIDIsNotTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := gateway.Announce(dir, "http://127.0.0.1:7717"); err != nil {
		t.Fatal(err)
	}
	d, err := gateway.Discover(dir)
	if err != nil || d.Process == "" {
		t.Fatalf("%+v, %v", d, err)
	}
	for mark, want := range map[string]error{"": nil, d.Process: nil, d.Process + "0": harness.ErrNotFound} { // versions before had none
		d.Process = mark
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "server.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := gateway.Discover(dir); !errors.Is(err, want) {
			t.Errorf("mark %q: %v", mark, err)
		}
	}
}
