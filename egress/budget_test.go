package egress_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"harness/egress"
	"harness/model/modeltest"
)

// TestABudgetIsPassedByNoMoreThanOneRequest runs many askers against one
// account, each of which uses at most what it said.
func TestABudgetIsPassedByNoMoreThanOneRequest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			limit := 1 + rnd.Int64N(10_000)
			a := egress.NewAccount(limit, 0)
			var used, largest atomic.Int64
			var wg sync.WaitGroup
			for range 20 {
				size := rnd.Int64N(3000)
				real := rnd.Int64N(size + 1)
				pause := time.Duration(rnd.Int64N(50))
				wg.Go(func() {
					for a.Admit(t.Context(), size) == "granted" {
						<-time.After(pause) // of the bubble: others come meanwhile
						used.Add(real)
						for l := largest.Load(); real > l && !largest.CompareAndSwap(l, real); l = largest.Load() {
						}
						a.Settle(size, real)
						if real == 0 {
							return
						}
					}
				})
			}
			wg.Wait()
			if over := used.Load() - limit; over >= max(1, largest.Load()) {
				t.Errorf("seed %d: %d over a budget of %d, the largest request was %d", seed, over, limit, largest.Load())
			}
		})
	}
}

func TestRequestsThatMightPassTheBudgetWaitForThoseThatRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := egress.NewAccount(100, 0)
		if v := a.Admit(t.Context(), 1000); v != "granted" {
			t.Fatal(v)
		}
		answer := make(chan string, 2)
		var wg sync.WaitGroup
		wg.Go(func() { answer <- a.Admit(t.Context(), 10) })
		synctest.Wait()
		if len(answer) != 0 {
			t.Fatalf("it did not wait: %s", <-answer)
		}
		a.Settle(1000, 99) // it was less than it might have been
		if v := <-answer; v != "granted" {
			t.Errorf("then: %s", v)
		}
		a.Settle(10, 10)
		if v := a.Admit(t.Context(), 10); v != "spent" {
			t.Errorf("over it: %s", v)
		}
		wg.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b := egress.NewAccount(100, 0)
		b.Admit(t.Context(), 1000)
		if v := b.Admit(ctx, 1); v != "context canceled" {
			t.Errorf("whoever leaves: %s", v)
		}
	})
}

func TestOverTheBudgetNothingIsAnswered(t *testing.T) {
	t.Parallel()
	up := scripted(t) // 152 tokens an answer, or 147
	h := build(t, up.URL, egress.Options{})
	for _, f := range forms {
		token := h.grant(t, egress.Grant{Provider: f.provider, MaxTokens: 300})
		var got []int
		for range 5 {
			path, body := f.streamed()
			got = append(got, post(t, h.address+"/"+f.provider+path, token, body).status)
		}
		want := []int{200, 200, f.spent(), f.spent(), f.spent()}
		if f.cacheWrite == 0 {
			want[2] = 200 // 294 is not over it
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", f.name, got, want)
		}
		if r := h.last(); r.Reason != "token budget" || r.Status != f.spent() {
			t.Errorf("recorded %+v", r)
		}
	}
}

// TestManyAtOnceStayWithinTheBudget: of requests that come together, only one
// can pass the budget.
func TestManyAtOnceStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "anthropic", MaxTokens: 1000})
	var ok, over atomic.Int64
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			switch post(t, h.address+"/anthropic/v1/messages", token, forms[0].body+"}").status {
			case 200:
				ok.Add(1)
			case 429:
				over.Add(1)
			}
		})
	}
	wg.Wait()
	if ok.Load() != 7 || over.Load() != 23 { // 6 × 152 is below 1000, 7 × 152 is not
		t.Errorf("%d were answered and %d refused, want 7 and 23", ok.Load(), over.Load())
	}
}

func TestTooManyOpenRequestsAreRefusedAndOthersGoOn(t *testing.T) {
	t.Parallel()
	up := modeltest.Serve(t, "say One\npause gate\nsay two.")
	h := build(t, up.URL, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "anthropic"})
	var all []*http.Response
	for range egress.MaxOpen {
		res, err := begin(t, t.Context(), h, token)
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		all = append(all, res)
	}
	if res, err := begin(t, t.Context(), h, token); err != nil || res.StatusCode != 429 || res.Header.Get("X-Should-Retry") != "" {
		t.Errorf("one more: %v, %v", res, err)
	}
	if res, err := begin(t, t.Context(), h, h.grant(t, egress.Grant{Provider: "anthropic"})); err != nil || res.StatusCode != 200 {
		t.Errorf("another run: %v, %v", res, err)
	}
	up.Open("gate")
	for _, res := range all {
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Error(err)
		}
	}
}

// TestALeaverPaysForWhatItMayHaveGot: leaving before the usage comes is no way
// around a budget.
func TestALeaverPaysForWhatItMayHaveGot(t *testing.T) {
	t.Parallel()
	up := modeltest.Serve(t, "usage in=100 out=40\nsay "+fmt.Sprintf("%0160d", 1)+"\npause")
	h := build(t, up.URL, egress.Options{})
	token := h.grant(t, egress.Grant{Provider: "anthropic", MaxTokens: 500})
	answered := 0
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		res, err := begin(t, ctx, h, token)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == 200 {
			answered++
			buf := make([]byte, 4096)
			for text := ""; !strings.Contains(text, "0001"); {
				n, err := res.Body.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				text += string(buf[:n])
			}
		}
		cancel()
		until(t, "the account", func() bool { return len(h.used()) == answered })
	}
	if answered > 4 {
		t.Errorf("%d answers were got for 500 tokens", answered)
	}
}
