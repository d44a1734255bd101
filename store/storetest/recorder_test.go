package storetest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder is a testing.TB that keeps a failure to itself.
type recorder struct {
	testing.TB

	mu      sync.Mutex // guards failure
	failure string
}

func (r *recorder) fail(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == "" {
		r.failure = text
	}
}

func (r *recorder) Error(args ...any)                 { r.fail(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.fail(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.fail(fmt.Sprint(args...)); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}
func (r *recorder) Skip(...any) { runtime.Goexit() }

// failureOf is what the check of p says about s; empty if it is content.
func failureOf(t testing.TB, p promise, s Suite) string {
	r := &recorder{TB: t}
	var wg sync.WaitGroup
	wg.Go(func() { p.check(r, s) })
	wg.Wait()
	return r.failure
}
