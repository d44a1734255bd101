package bench

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"harness/kernel"
	"harness/protocol/delta"
)

// attach is how long it takes from dialling a sleeping session to its whole
// state, by the length of its history.
type attach struct {
	window, full           map[int]time.Duration // medians
	windowBytes, fullBytes map[int]int
}

// history is what the shelf's sessions cost: attached to, and appended to.
type history struct {
	attach attach
	cost   map[int]cost
}

// measureHistory uses one database for both, as building it takes longest.
func measureHistory(tb testing.TB, _ struct{}) history {
	st := openShelf(tb)
	defer st.Close()
	tap := newFaucet()
	s := mustServe(tb, st, tap, kernel.Options{IdleAfter: 50 * time.Millisecond}, delta.Options{})
	defer s.close()
	return history{measureAttach(tb, s), measureCost(tb, st, s, tap)}
}

func measureAttach(tb testing.TB, s *server) attach {
	rounds := 41
	if long() {
		rounds = 201
	}
	a := attach{map[int]time.Duration{}, map[int]time.Duration{}, map[int]int{}, map[int]int{}}
	window, full := map[int][]time.Duration{}, map[int][]time.Duration{}
	once := func(path string) (time.Duration, int) {
		start := time.Now()
		c := dial(tb, s.addr, path)
		defer c.close()
		frame := c.frame()
		took := time.Since(start)
		if !bytes.HasPrefix(frame, []byte(`{"type":"state"`)) {
			tb.Fatalf("not a state: %.80s", frame)
		}
		if s.k.Awake() != 0 {
			tb.Fatal("attaching woke the session")
		}
		return took, len(frame)
	}
	for i := range rounds {
		for _, n := range lengths {
			took, size := once(fmt.Sprintf("/ws?sessionId=%s&window=64", shelved(n)))
			window[n] = append(window[n], took)
			a.windowBytes[n] = size
			if i%20 == 0 { // the whole transcript is megabytes
				took, size = once(fmt.Sprintf("/ws?sessionId=%s", shelved(n)))
				full[n] = append(full[n], took)
				a.fullBytes[n] = size
			}
		}
	}
	for _, n := range lengths {
		a.window[n], a.full[n] = median(window[n]), median(full[n])
	}
	return a
}

// grown is the ratio of the longest history to the shortest.
func (a attach) grown() float64 {
	return float64(a.window[lengths[len(lengths)-1]]) / float64(a.window[lengths[0]])
}

// BenchmarkAttach is dial to state frame on a sleeping session. With a window
// of messages it must not grow with the history; without one the client asks
// for the whole conversation and gets it.
func BenchmarkAttach(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			a := histories.get(b, struct{}{}, measureHistory).attach
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(a.window[n].Microseconds()), "µs")
			b.ReportMetric(float64(a.windowBytes[n])/1e3, "kB")
			b.ReportMetric(float64(a.window[n])/float64(a.window[lengths[0]]), "x-1k")
			b.ReportMetric(float64(a.full[n].Microseconds()), "full-µs")
			b.ReportMetric(float64(a.fullBytes[n])/1e3, "full-kB")
		})
	}
}
