package metrics

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// ticks are what a second has in /proc, on every Linux that Go runs on.
const ticks = 100

// process tells of this process what the system says of it; what it does not
// say is left out.
func (p *page) process() {
	if dir, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.gauge("process_open_fds", "Open files.", float64(len(dir)-1)) // but the directory
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		p.gauge("process_max_fds", "Files that may be open.", float64(limit.Cur))
	}
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	stat := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third: a name may have spaces
	field := func(n int) float64 {
		if n -= 3; n >= len(stat) {
			return 0
		}
		x, _ := strconv.ParseFloat(string(stat[n]), 64) // 0 is as good as nothing
		return x
	}
	p.add("process_cpu_seconds_total", aCounter, "Seconds of CPU, of the user and the system.", sample{value: (field(14) + field(15)) / ticks})
	p.gauge("go_threads", "Threads of the system.", field(20))
	p.gauge("process_virtual_memory_bytes", "Bytes of virtual memory.", field(23))
	p.gauge("process_resident_memory_bytes", "Bytes of resident memory.", field(24)*float64(os.Getpagesize()))
	if boot, ok := bootTime(); ok {
		p.gauge("process_start_time_seconds", "When the process began.", boot+field(22)/ticks)
	}
}

func bootTime() (float64, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	_, rest, ok := bytes.Cut(text, []byte("\nbtime "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	at, err := strconv.ParseFloat(string(line), 64)
	return at, ok && err == nil
}
