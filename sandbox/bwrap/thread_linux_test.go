package bwrap_test

import (
	"io"
	"runtime"
	"testing"

	"harness"
)

// A process that asks to die with its parent dies with the thread that made it,
// and Go ends the thread of a goroutine that ends while it is locked to one.
func TestAProcessOutlivesTheGoroutineThatStartedIt(t *testing.T) {
	w, err := working(t).Open(t.Context(), harness.WorkspaceSpec{Directory: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	in, say := io.Pipe()
	started := make(chan harness.Child)
	go func() {
		runtime.LockOSThread()
		c, err := w.Start(t.Context(), harness.Process{Args: []string{"/bin/sh", "-c", "read x; exit 9"}, Stdin: in})
		if err != nil {
			t.Error(err)
		}
		started <- c
	}()
	c := <-started
	// Many threads come and go before the process is told to end.
	for range 50 {
		done := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(done)
		}()
		<-done
	}
	if _, err := io.WriteString(say, "\n"); err != nil {
		t.Fatal(err)
	}
	if exit, err := c.Wait(); err != nil || exit.Code != 9 {
		t.Errorf("it ended with %+v, %v, want 9", exit, err)
	}
}
