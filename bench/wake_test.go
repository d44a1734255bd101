package bench

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/sqlite"
)

// wake is a command to its first delta, to a session of 64 kB that is awake
// and to one that sleeps, and what connecting to the sleeping one costs.
type wake struct {
	hot, asleep       time.Duration // medians
	hotCPU, asleepCPU time.Duration // likewise, with the whole turn
	connect, coder    time.Duration // CPU per connection: ours, and a bare accept that sends as much
	woken             int           // sessions that connecting woke
}

func measureWake(tb testing.TB, _ struct{}) wake {
	const rounds = 1000 // fewer leave a tenth of the figure to chance
	st, err := sqlite.Open(context.Background(), filepath.Join(tb.TempDir(), "harness.db"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer st.Close()
	const id = harness.SessionID("ses_wake")
	if err := fill(st, id, 1000, 80); err != nil {
		tb.Fatal(err)
	}
	const other = harness.SessionID("ses_hot")
	if err := fill(st, other, 1000, 80); err != nil {
		tb.Fatal(err)
	}
	s := mustServe(tb, st, newFaucet(), kernel.Options{IdleAfter: 10 * time.Millisecond}, delta.Options{})
	defer s.close()
	w := wake{}
	size := w.connects(tb, s, "/ws?sessionId="+string(id))
	w.peer(tb, size)

	// Another server on the same store, for its session alone, never sleeps.
	insomniac := mustServe(tb, st, newFaucet(), kernel.Options{IdleAfter: time.Hour}, delta.Options{})
	defer insomniac.close()
	c, h := dial(tb, s.addr, "/ws?sessionId="+string(id)), dial(tb, insomniac.addr, "/ws?sessionId="+string(other))
	defer c.close()
	defer h.close()
	c.frame()
	h.frame()
	command(h)
	var hot, cold, hotCPU, coldCPU []time.Duration
	for range rounds { // both are asked after the same pause
		s.asleep(tb)
		time.Sleep(5 * time.Millisecond)
		cpu := cpuTime()
		cold = append(cold, command(c))
		coldCPU = append(coldCPU, cpuTime()-cpu)
		s.asleep(tb)
		time.Sleep(5 * time.Millisecond)
		cpu = cpuTime()
		hot = append(hot, command(h))
		hotCPU = append(hotCPU, cpuTime()-cpu)
	}
	w.hot, w.asleep = median(hot), median(cold)
	w.hotCPU, w.asleepCPU = median(hotCPU), median(coldCPU)
	return w
}

// command submits, takes the time to the first delta, and reads on until the
// turn has ended.
func command(c *client) time.Duration {
	start := time.Now()
	c.send(`{"type":"commands","commands":[{"type":"submit","prompt":"hello"}]}`)
	frame := c.frame()
	took := time.Since(start)
	for !bytes.Contains(frame, []byte(`"path":["status"],"value":"idle"`)) {
		frame = c.frame()
	}
	return took
}

// connects measures connections to a sleeping session and returns the size of
// its state.
func (w *wake) connects(tb testing.TB, s *server, path string) int {
	c := startChild(tb, "crowd")
	defer c.end()
	const n = 500
	come := func() answer {
		c.ask(ask{Do: "dial", Addr: s.addr, Path: path, N: n, Kind: "harness"})
		a := c.ask(ask{Do: "states", Total: n})
		c.ask(ask{Do: "hangup"})
		until(tb, func() bool { return s.hub.Clients() == 0 })
		return a
	}
	come()
	var a answer
	var rounds []time.Duration
	for range 7 {
		cpu := cpuTime()
		a = come()
		rounds = append(rounds, (cpuTime()-cpu)/n)
	}
	w.connect, w.woken = median(rounds), s.k.Awake()
	return int(a.Bytes) / n
}

// peer measures the same connections to a server that has the bytes ready.
func (w *wake) peer(tb testing.TB, size int) {
	o, err := serveCoder([]byte(chunk(size)))
	if err != nil {
		tb.Fatal(err)
	}
	defer o.close()
	c := startChild(tb, "crowd")
	defer c.end()
	const n = 500
	come := func() {
		c.ask(ask{Do: "dial", Addr: o.addr, Path: "/", N: n, Kind: "plain"})
		c.ask(ask{Do: "heard", N: n, Total: 1})
		c.ask(ask{Do: "hangup"})
	}
	come()
	var rounds []time.Duration
	for range 7 {
		cpu := cpuTime()
		come()
		rounds = append(rounds, (cpuTime()-cpu)/n)
	}
	w.coder = median(rounds)
}

// BenchmarkWake is a session of 64 kB, awake and asleep.
func BenchmarkWake(b *testing.B) {
	w := wakes.get(b, struct{}{}, measureWake)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(w.hot.Microseconds()), "hot-µs")
	b.ReportMetric(float64(w.asleep.Microseconds()), "asleep-µs")
	b.ReportMetric(float64((w.asleep - w.hot).Microseconds()), "wake-µs")
	b.ReportMetric(float64(w.hotCPU.Microseconds()), "hot-cpu-µs")
	b.ReportMetric(float64(w.asleepCPU.Microseconds()), "asleep-cpu-µs")
	b.ReportMetric(float64(w.connect.Microseconds()), "connect-cpu-µs")
	b.ReportMetric(float64(w.coder.Microseconds()), "coder-connect-cpu-µs")
}
