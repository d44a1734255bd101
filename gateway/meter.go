package gateway

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"
)

// meterRows bounds what a meter remembers, whoever knocks: two strangers who
// share a row take turns in it, and nobody else notices.
const meterRows = 4096

// meter lets each of many parties do something so many times at once and so
// often after that, in memory that does not grow.
type meter struct {
	burst float64
	every time.Duration // one more
	seed  maphash.Seed

	mu   sync.Mutex // guards rows
	rows []meterRow
}

type meterRow struct {
	who  uint64
	used float64   // of burst, at
	at   time.Time // and less since

	vain int // how often it was too much since it was not
}

func newMeter(burst int, every time.Duration) *meter { return newMeterOf(meterRows, burst, every) }

// newMeterOf is a meter of as many rows.
func newMeterOf(rows, burst int, every time.Duration) *meter {
	return &meter{burst: float64(burst), every: every, seed: maphash.MakeSeed(), rows: make([]meterRow, rows)}
}

// take counts one more of who, and reports whether it was within the bounds.
func (m *meter) take(now time.Time, who string) bool {
	ok, _, _ := m.look(now, who, 1)
	return ok
}

// tally is take, and how often that was too much for who since it last was not.
func (m *meter) tally(now time.Time, who string) (ok bool, vain int) {
	ok, _, vain = m.look(now, who, 1)
	return ok, vain
}

// full reports whether who has used up everything, without counting, and for
// how long.
func (m *meter) full(now time.Time, who string) (bool, time.Duration) {
	ok, wait, _ := m.look(now, who, 0)
	return !ok, wait
}

func (m *meter) look(now time.Time, who string, n float64) (ok bool, wait time.Duration, vain int) {
	h := maphash.String(m.seed, who)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &m.rows[h%uint64(len(m.rows))]
	used := 0.0
	if r.who == h {
		used, vain = max(0, r.used-float64(now.Sub(r.at))/float64(m.every)), r.vain
	}
	over := used + max(n, 1) - m.burst
	switch {
	case n > 0 && over <= 0:
		*r = meterRow{who: h, used: used + n, at: now}
	case n > 0: // the row is who's, or nothing would be used
		r.vain++
	}
	return over <= 0, time.Duration(math.Ceil(max(0, over) * float64(m.every))), vain
}

// party is whom a remote address counts as: an IPv4 address, or the network of
// an IPv6 address, of which one machine has many.
func party(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	a := ap.Addr().Unmap().WithZone("")
	if a.Is6() {
		p, _ := a.Prefix(64)
		return p.String()
	}
	return a.String()
}
