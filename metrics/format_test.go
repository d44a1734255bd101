package metrics_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"harness"
	"harness/metrics"
)

// TestPrometheusReadsThePage: with its own parser; and what its own library
// tells of Go and of a process has the same names and kinds here.
func TestPrometheusReadsThePage(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Source{Awake: func() int { return 3 }})
	for _, took := range []time.Duration{0, 100 * time.Microsecond, time.Millisecond, time.Minute} {
		m.Committed(commit(&harness.Token{}, &harness.Usage{InputTokens: 1, CostUSD: new(0.1)}), took, nil)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(scrape(m)))
	if err != nil {
		t.Fatal(err)
	}
	h := got["harness_commit_seconds"].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 4 || h.GetBucket()[0].GetCumulativeCount() != 2 || h.GetBucket()[15].GetCumulativeCount() != 3 || h.GetSampleSum() < 60 {
		t.Errorf("commits: %v", h)
	}
	if runtime.GOOS != "linux" {
		return
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	theirs, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]bool{ // which of them are not ours to tell
		"go_gc_gogc_percent": true, "process_virtual_memory_max_bytes": true,
		"process_network_receive_bytes_total": true, "process_network_transmit_bytes_total": true, // those of the machine
	}
	for _, f := range theirs {
		ours := got[f.GetName()]
		if (ours == nil) != without[f.GetName()] || ours != nil && ours.GetType() != f.GetType() {
			t.Errorf("%s is %v, want %v", f.GetName(), ours, f.GetType())
		}
	}
	for name, sane := range map[string]func(x float64) bool{
		"process_resident_memory_bytes": func(x float64) bool { return x > 1<<20 && x < 1<<34 },
		"process_start_time_seconds":    func(x float64) bool { return time.Since(time.Unix(int64(x), 0)).Abs() < time.Hour },
		"process_open_fds":              func(x float64) bool { return x >= 3 },
		"go_goroutines":                 func(x float64) bool { return x >= 1 },
		"go_threads":                    func(x float64) bool { return x >= 1 && x < 1000 },
	} {
		if x := got[name].GetMetric()[0].GetGauge().GetValue(); !sane(x) {
			t.Errorf("%s is %g", name, x)
		}
	}
}

// TestOnlyAFewAskAtATime: a scraper that does not wait for its answers costs
// no more than four of them.
func TestOnlyAFewAskAtATime(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	m := metrics.New(metrics.Source{Awake: func() int { begun <- struct{}{}; <-end; return 0 }})
	answers := make(chan string, 4) // one for each
	for range cap(answers) {
		go func() { answers <- scrape(m) }()
		<-begun
	}
	if text := scrape(m); strings.Contains(text, "harness_") {
		t.Error("a fifth was told")
	}
	close(end)
	for range cap(answers) {
		if text := <-answers; !strings.Contains(text, "harness_sessions_awake 0\n") {
			t.Errorf("one that waited was told %q", text)
		}
	}
}
