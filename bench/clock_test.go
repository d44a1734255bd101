package bench

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is a clock that all processes of the machine share.
func monotonic() int64 { return clock(unix.CLOCK_MONOTONIC) }

// cpuNow is cpuTime in ns, for what takes little.
func cpuNow() int64 { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// threadNow is what this goroutine's thread has used. It is good for a stretch
// that does not block.
func threadNow() time.Duration { return time.Duration(clock(unix.CLOCK_THREAD_CPUTIME_ID)) }

func clock(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// cpuTime is what this process has used, all threads, user and system.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// footprint is this process's after everything that can be given back was.
func footprint() answer {
	for range 3 {
		runtime.GC()
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var size, resident int64
	b, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(b), &size, &resident)
	}
	if err != nil {
		panic(err)
	}
	return answer{
		RSS: resident * int64(os.Getpagesize()), Heap: int64(m.HeapAlloc), Stacks: int64(m.StackInuse),
		Goroutines: runtime.NumGoroutine(), CPU: int64(cpuTime()),
	}
}

// median is the middle of values, which it sorts.
func median[T cmp.Ordered](values []T) T { return quantile(values, 0.5) }

func quantile[T cmp.Ordered](values []T, q float64) T {
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}
