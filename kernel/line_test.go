package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
)

var dawn = time.UnixMilli(1_700_000_000_000).UTC()

// queued is a row that waits since so many seconds after dawn.
func queued(id, user string, at int) harness.Summary {
	return harness.Summary{
		Session: harness.SessionID(id), User: user, Kind: harness.Background, Status: harness.Queued, Seq: 1, Queued: dawn.Add(time.Duration(at) * time.Second),
	}
}

// ends is the row behind, when its turn has ended.
func (l *line) ends(id harness.SessionID) {
	p := l.places[id]
	l.see(harness.Summary{Session: id, User: p.user, Kind: harness.Background, Status: harness.StatusCompleted, Seq: p.seq + 1})
}

// serveAll gives a place to one after the other.
func serveAll(l *line) string {
	var order []string
	for now := dawn; ; now = now.Add(time.Second) {
		id, ok := l.next(now)
		if !ok {
			return strings.Join(order, " ")
		}
		order = append(order, string(id))
		l.ends(id)
	}
}

func TestUsersTakeTurnsAndEachHasItsOwnOrder(t *testing.T) {
	t.Parallel()
	l := newLine(1)
	for i, id := range []string{"a1", "a2", "a3", "a4", "b1", "c1", "b2"} {
		l.see(queued(id, id[:1], i))
	}
	var told []string
	for _, id := range l.arrange() {
		told = append(told, string(id))
	}
	if at := l.place("b2"); at != 5 {
		t.Errorf("b2 is told to be number %d", at)
	}
	got := serveAll(l)
	if want := "a1 b1 c1 a2 b2 a3 a4"; got != want || strings.Join(told, " ") != want {
		t.Errorf("served %s, told %s, want %s", got, strings.Join(told, " "), want)
	}
}

// Whoever fills the line keeps nobody else waiting.
func TestALateUserWaitsForOneRoundOnly(t *testing.T) {
	t.Parallel()
	l := newLine(2)
	for i := range 100 {
		l.see(queued(fmt.Sprintf("a%03d", i), "a", i))
	}
	l.next(dawn)
	l.next(dawn)
	l.see(queued("b", "b", 1000))
	if at := l.place("b"); at != 1 {
		t.Errorf("b waits as number %d", at)
	}
}

func TestALineKeepsToItsPlaces(t *testing.T) {
	t.Parallel()
	l := newLine(2)
	for i := range 40 {
		l.see(queued(fmt.Sprintf("s%02d", i), "u", i))
	}
	var began []harness.SessionID
	for {
		id, ok := l.next(dawn)
		if !ok {
			break
		}
		began = append(began, id)
	}
	if len(began) != 2 {
		t.Fatalf("%d began, there are 2 places", len(began))
	}
	// Those that wait for people make room for others, up to a bound.
	asking := 0
	for range 100 {
		for _, id := range began {
			p := l.places[id]
			l.see(harness.Summary{Session: id, User: p.user, Kind: harness.Background, Status: harness.AwaitingApproval, Seq: p.seq + 1})
			asking++
		}
		began = nil
		for {
			id, ok := l.next(dawn)
			if !ok {
				break
			}
			began = append(began, id)
		}
		if len(began) == 0 {
			break
		}
	}
	if asking != 2*(1+waitingPerSlot) {
		t.Errorf("%d engines wait for people", asking)
	}
	// One that sleeps has none.
	l.asleep("s00")
	if _, ok := l.next(dawn); !ok {
		t.Error("a session that sleeps still has an engine")
	}
}

func TestARetryWaitsForItsTimeAndKeepsItsPlace(t *testing.T) {
	t.Parallel()
	l := newLine(1)
	r := queued("a1", "a", 0)
	r.Status, r.Retry = harness.Recovering, dawn.Add(time.Minute)
	l.see(r)
	l.see(queued("a2", "a", 1))
	if id, _ := l.next(dawn); id != "a2" {
		t.Errorf("%s goes first", id)
	}
	l.ends("a2")
	l.see(queued("a3", "a", 2))
	if id, _ := l.next(dawn.Add(time.Minute)); id != "a1" {
		t.Errorf("%s goes after the wait", id)
	}
	if !l.alarm.Equal(dawn.Add(time.Minute)) {
		t.Errorf("the alarm is set for %s", l.alarm)
	}
}

// A promise that nobody could hear is made again later; one that is not wanted
// is not.
func TestAPromiseIsAnswered(t *testing.T) {
	t.Parallel()
	l := newLine(1)
	l.see(queued("a1", "a", 0))
	l.next(dawn)
	l.kept("a1", true, dawn.Add(time.Second))
	if id, ok := l.next(dawn); ok {
		t.Errorf("%s is asked again at once", id)
	}
	if id, _ := l.next(dawn.Add(time.Second)); id != "a1" {
		t.Error("it is not asked again")
	}
	l.kept("a1", false, time.Time{})
	if id, ok := l.next(dawn.Add(time.Hour)); ok || l.busy != 0 {
		t.Errorf("%s is asked again, %d places are taken", id, l.busy)
	}
	// Unless it has changed its mind since it was asked.
	r := queued("a1", "a", 0)
	l.see(r)
	l.next(dawn)
	r.Seq++
	l.see(r)
	l.kept("a1", false, time.Time{})
	if id, _ := l.next(dawn); id != "a1" {
		t.Error("it waits, and is forgotten")
	}
}

// Whatever happens, the line of another process on the same rows is the same.
func TestARestartMakesTheSameLine(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(60, 20_000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rows := map[harness.SessionID]harness.Summary{}
		l, now, n := newLine(1+rng.IntN(3)), dawn, 0
		see := func(r harness.Summary) {
			rows[r.Session] = r
			l.see(r)
		}
		for range 120 {
			now = now.Add(time.Duration(1+rng.IntN(5)) * time.Second)
			switch k := rng.IntN(10); {
			case k < 5:
				n++
				r := queued(fmt.Sprintf("s%03d", n), string(rune('a'+rng.IntN(4))), 0)
				r.Queued = now
				see(r)
			case k < 8:
				id, ok := l.next(now)
				if !ok {
					continue
				}
				r := rows[id]
				r.Status, r.Queued, r.Started = harness.Running, time.Time{}, now
				r.Seq++
				see(r)
				l.kept(id, true, time.Time{})
			default:
				for id, p := range l.places {
					if p.state == runs {
						r := rows[id]
						r.Status = harness.StatusCompleted
						r.Seq++
						see(r)
						break
					}
				}
			}
			again := newLine(l.slots)
			for _, r := range rows {
				again.see(r)
			}
			for _, r := range rows {
				again.recall(r)
			}
			if got, want := again.arrange(), l.arrange(); !slices.Equal(got, want) || again.busy != l.busy {
				t.Fatalf("seed %d: after a restart %v, %d run; before %v, %d run", seed, got, again.busy, want, l.busy)
			}
		}
	}
}

func BenchmarkLine(b *testing.B) {
	l := newLine(8)
	for i := range 10_000 {
		l.see(queued(fmt.Sprintf("s%05d", i), fmt.Sprintf("u%d", i%50), i))
	}
	b.ReportAllocs()
	for b.Loop() {
		id, _ := l.next(dawn)
		p := l.places[id]
		r := queued(string(id), p.user, 0)
		r.Seq, r.Queued = p.seq+1, p.queued
		l.kept(id, true, time.Time{})
		l.see(r)
	}
}
