package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/remote"
	"harness/engine/script"
	"harness/protocol/runner"
)

// hosted is a pool of runners that count their runs.
type hosted struct {
	urls []string
	runs []*atomic.Int64
	play *script.Engine // what all of them play
}

func hostAll(t testing.TB, n int, text string) *hosted {
	t.Helper()
	src, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{play: script.New(src, nil)}
	for range n {
		r, count := runner.New(h.play, &runner.Options{Spool: t.TempDir(), Token: "a token of some length"}), &atomic.Int64{}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/query" {
				count.Add(1)
			}
			r.ServeHTTP(w, req)
		}))
		t.Cleanup(func() {
			r.Close()
			srv.CloseClientConnections()
			srv.Close()
		})
		h.urls, h.runs = append(h.urls, srv.URL), append(h.runs, count)
	}
	return h
}

// engine is one process's of the pool, with its URLs in an order of its own.
func (h *hosted) engine(t testing.TB, same bool, turned int) *remote.Engine {
	t.Helper()
	urls := slices.Concat(h.urls[turned:], h.urls[:turned])
	e, err := remote.OpenPool(urls, &remote.PoolOptions{Token: "a token of some length", SameFiles: same})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (h *hosted) counts() (all []int64) {
	for _, n := range h.runs {
		all = append(all, n.Load())
	}
	return all
}

func turnOf(t testing.TB, e harness.Engine, id harness.SessionID, prompt string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := enginetest.NewHost(id)
	return e.Run(ctx, h.Begin(prompt), h)
}

func TestASessionKeepsToItsRunnerWhicheverProcessAsks(t *testing.T) {
	t.Parallel()
	h := hostAll(t, 3, "echo")
	used := map[int]bool{}
	for s := range 12 {
		id := harness.SessionID(fmt.Sprint("ses_", s))
		before := h.counts()
		for turned := range 3 {
			if err := turnOf(t, h.engine(t, false, turned), id, "hello"); err != nil {
				t.Fatal(err)
			}
		}
		for i, n := range h.counts() {
			switch n - before[i] {
			case 0:
			case 3:
				used[i] = true
			default:
				t.Fatalf("%s had %d of 3 turns on runner %d", id, n-before[i], i)
			}
		}
	}
	if len(used) != 3 {
		t.Errorf("12 sessions use %d of 3 runners", len(used))
	}
}

// TestARunIsFoundAmongRunnersOnTheSameFiles has as many turns at once as there
// are runners, each of another session: all run, and another process finds them.
func TestARunIsFoundAmongRunnersOnTheSameFiles(t *testing.T) {
	t.Parallel()
	h := hostAll(t, 3, "say begun\ngate go\nsay done")
	var wg sync.WaitGroup
	var turns []harness.Turn
	for s := range 3 {
		host := enginetest.NewHost(harness.SessionID(fmt.Sprint("ses_", s)))
		turn := host.Begin("hello")
		turn.ID = harness.TurnID(fmt.Sprint("trn_", s))
		turns = append(turns, turn)
		e := h.engine(t, true, s)
		wg.Go(func() {
			if err := e.Run(t.Context(), turn, host); err != nil {
				t.Error(err)
			}
		})
	}
	other := h.engine(t, true, 0)
	for _, turn := range turns {
		wait(t, func() bool { return other.Survives(t.Context(), turn) })
		missing := turn
		missing.Attempt++
		if other.Survives(t.Context(), missing) {
			t.Error("another attempt was found")
		}
	}
	h.play.Open("go")
	wg.Wait()
}

// wait waits for something that nobody tells of.
func wait(t testing.TB, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !cond() {
		if ctx.Err() != nil {
			t.Fatal("waited in vain")
		}
		time.Sleep(time.Millisecond) // sleep: between two looks at a condition with a deadline
	}
}

func TestAPoolThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, urls := range [][]string{nil, {"http://127.0.0.1:1", "http://127.0.0.1:1"}, {"http://127.0.0.1:1", "http://runner.example"}, make([]string, remote.MaxPool+1)} {
		if _, err := remote.OpenPool(urls, nil); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("%d URLs: %v", len(urls), err)
		}
	}
}
