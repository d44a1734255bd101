//go:build linux

package space

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// thread is one thread of the system that starts all processes of a space. It
// sits in the space's control groups of version 1, which a process inherits
// from the thread that makes it, and it does not end before they do: a process
// can ask to die with the thread that made it, and Go ends threads.
//
// It is never the program's first thread. The groups of that one are what the
// system calls the groups of the program: whoever looked where to make a group
// would make it in ours.
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
		if unix.Gettid() != unix.Getpid() {
			t.serve(groups, joined)
			return
		}
		// While this goroutine holds the first thread, another gets another.
		held := make(chan struct{})
		t.alive.Go(func() {
			runtime.LockOSThread()
			close(held)
			t.serve(groups, joined)
		})
		<-held
		runtime.UnlockOSThread()
	})
	if err := <-joined; err != nil {
		t.alive.Wait()
		return nil, err
	}
	return t, nil
}

// serve does the work on the calling thread, which ends with its goroutine
// unless it has left the groups before.
func (t *thread) serve(groups []string, joined chan<- error) {
	err := join(groups)
	joined <- err
	if err != nil {
		return
	}
	for f := range t.work {
		f()
	}
	var outside []string
	for _, dir := range groups {
		outside = append(outside, filepath.Dir(dir))
	}
	if join(outside) == nil {
		runtime.UnlockOSThread()
	}
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
