//go:build linux

package space

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// thread is one thread of the system that starts all processes of a space. It
// sits in the space's control groups of version 1, which a process inherits
// from the thread that makes it, and it does not end before they do: a process
// can ask to die with the thread that made it, and Go ends threads.
type thread struct {
	work  chan func()
	alive sync.WaitGroup
}

// newThread returns a thread in the given groups.
func newThread(groups []string) (*thread, error) {
	t := &thread{work: make(chan func())}
	joined := make(chan error)
	t.alive.Go(func() {
		runtime.LockOSThread()
		err := join(groups)
		joined <- err
		if err != nil {
			return
		}
		for f := range t.work {
			f()
		}
		// The program's first thread does not end with its goroutine, so it must
		// not stay in groups that are to be removed.
		var outside []string
		for _, dir := range groups {
			outside = append(outside, filepath.Dir(dir))
		}
		if join(outside) == nil {
			runtime.UnlockOSThread()
		}
	})
	if err := <-joined; err != nil {
		t.alive.Wait()
		return nil, err
	}
	return t, nil
}

// join moves the calling thread into the groups.
func join(groups []string) error {
	for _, dir := range groups {
		if err := os.WriteFile(filepath.Join(dir, "tasks"), []byte("0"), 0); err != nil {
			return fmt.Errorf("enter a control group: %w", err)
		}
	}
	return nil
}

// start starts a command on the thread.
func (t *thread) start(cmd *exec.Cmd) error {
	done := make(chan error)
	t.work <- func() { done <- cmd.Start() }
	return <-done
}

// close ends the thread.
func (t *thread) close() {
	close(t.work)
	t.alive.Wait()
}
