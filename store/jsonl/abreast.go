package jsonl

import (
	"sync"
	"sync/atomic"
)

// workers is how many files are flushed, or looked at, side by side: enough for
// the disk to take many flushes in one go.
const workers = 32

// abreast calls f with 0 to n-1, several at a time, and waits.
func abreast(n int, f func(int)) {
	if n <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, workers) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
