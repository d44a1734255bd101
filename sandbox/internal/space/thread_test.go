//go:build linux

package space

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// The program's first thread is what the system takes for the program; many
// goroutines ask for threads until each thread that there is has been asked.
func TestTheFirstThreadIsNeverTaken(t *testing.T) {
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 500 {
				th, err := newThread(nil)
				if err != nil {
					t.Error(err)
					return
				}
				id := make(chan int)
				th.work <- func() { id <- unix.Gettid() }
				if got := <-id; got == unix.Getpid() {
					t.Errorf("thread %d is the first one", got)
				}
				th.close()
			}
		})
	}
	asking.Wait()
}
