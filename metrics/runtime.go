package metrics

import (
	"math"
	"runtime"
	"runtime/debug"
	"time"
)

// golang tells of Go's own, by the names that its dashboards know.
func (p *page) golang() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.memory(&m)
	var gc debug.GCStats
	gc.PauseQuantiles = make([]time.Duration, 5)
	debug.ReadGCStats(&gc)
	var pauses []sample
	for i, q := range []string{"0", "0.25", "0.5", "0.75", "1"} {
		pauses = append(pauses, sample{labelled([]string{"quantile"}, q), gc.PauseQuantiles[i].Seconds()})
	}
	p.add("go_gc_duration_seconds", aSummary, "How long garbage collection held everything up.",
		append(pauses, sample{"_sum", gc.PauseTotal.Seconds()}, sample{"_count", float64(gc.NumGC)})...)
	p.gauge("go_gc_gomemlimit_bytes", "The limit that Go keeps its memory to.", float64(debug.SetMemoryLimit(-1)))
	p.gauge("go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	p.add("go_info", aGauge, "Which Go this is.", sample{labelled([]string{"version"}, runtime.Version()), 1})
	p.gauge("go_sched_gomaxprocs_threads", "Threads that may run Go at a time.", float64(runtime.GOMAXPROCS(0)))
}

func (p *page) memory(m *runtime.MemStats) {
	gauge := func(name, help string, n uint64) { p.gauge("go_memstats_"+name, help, float64(n)) }
	total := func(name, help string, n uint64) {
		p.add("go_memstats_"+name, aCounter, help, sample{value: float64(n)})
	}
	gauge("alloc_bytes", "Bytes of heap objects.", m.Alloc)
	total("alloc_bytes_total", "Bytes of heap objects that were ever made.", m.TotalAlloc)
	gauge("buck_hash_sys_bytes", "Bytes of the tables of profiles.", m.BuckHashSys)
	total("frees_total", "Heap objects that were freed.", m.Frees)
	gauge("gc_sys_bytes", "Bytes of what garbage collection keeps.", m.GCSys)
	gauge("heap_alloc_bytes", "Bytes of heap objects.", m.HeapAlloc)
	gauge("heap_idle_bytes", "Bytes of the heap that wait to be used.", m.HeapIdle)
	gauge("heap_inuse_bytes", "Bytes of the heap that are in use.", m.HeapInuse)
	gauge("heap_objects", "Heap objects.", m.HeapObjects)
	gauge("heap_released_bytes", "Bytes of the heap that the system has back.", m.HeapReleased)
	gauge("heap_sys_bytes", "Bytes of the heap that the system gave.", m.HeapSys)
	p.gauge("go_memstats_last_gc_time_seconds", "When garbage was last collected.", math.Round(float64(m.LastGC)/1e6)/1e3)
	total("mallocs_total", "Heap objects that were ever made.", m.Mallocs)
	gauge("mcache_inuse_bytes", "Bytes of caches of the heap.", m.MCacheInuse)
	gauge("mcache_sys_bytes", "Bytes that the system gave for those.", m.MCacheSys)
	gauge("mspan_inuse_bytes", "Bytes of the heap's own tables.", m.MSpanInuse)
	gauge("mspan_sys_bytes", "Bytes that the system gave for those.", m.MSpanSys)
	gauge("next_gc_bytes", "Bytes of heap at which garbage is collected next.", m.NextGC)
	gauge("other_sys_bytes", "Bytes of everything else.", m.OtherSys)
	gauge("stack_inuse_bytes", "Bytes of stacks that are in use.", m.StackInuse)
	gauge("stack_sys_bytes", "Bytes that the system gave for stacks.", m.StackSys)
	gauge("sys_bytes", "Bytes that the system gave.", m.Sys)
}
