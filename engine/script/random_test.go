package script_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/enginetest"
)

// randomScript writes a script that any number of attempts can end.
func randomScript(r *rand.Rand, depth int, indent string, b *strings.Builder) {
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+"\n", args...) }
	for range 1 + r.IntN(4) {
		kind := r.IntN(10)
		if depth == 0 {
			kind = r.IntN(6)
		}
		switch kind {
		case 0:
			line("say %d", r.IntN(100))
		case 1:
			line("checkpoint")
		case 2:
			line("call read {} => text")
		case 3:
			line("tool bash")
			line("log a")
			line("tool bash")
			line("outcome timeout 1s")
			line("outcome ok")
		case 4:
			line("ask edit => done")
		case 5:
			line("retry again")
		case 6, 7:
			line("ask bash")
			randomScript(r, depth-1, indent+"  ", b)
		case 8:
			line("repeat %d", r.IntN(4))
			randomScript(r, depth-1, indent+"  ", b)
			line("end")
		case 9:
			line("when %s", []string{"go", "stop"}[r.IntN(2)])
			randomScript(r, depth-1, indent+"  ", b)
			line("else")
			randomScript(r, depth-1, indent+"  ", b)
			line("end")
		}
	}
}

// calls lists the calls of a session in some fixed order; one that ask opened
// again counts once. A call announced or closed twice is an error.
func calls(t *testing.T, h *enginetest.Host) (list []string) {
	t.Helper()
	opened, closed := map[harness.CallID]int{}, map[harness.CallID]int{}
	for _, e := range h.Events() {
		switch p := e.Payload.(type) {
		case *harness.ToolCall:
			opened[p.ToolCallID]++
			if id, _, _ := strings.Cut(string(p.ToolCallID), ":"); !slices.Contains(list, id) {
				list = append(list, id)
			}
		case *harness.ToolOutcome:
			closed[p.ToolCallID]++
		}
	}
	for id, n := range opened {
		if n != 1 || closed[id] != 1 {
			t.Errorf("call %s was opened %d times and closed %d times", id, n, closed[id])
		}
	}
	slices.Sort(list)
	return list
}

// TestRandomScriptsSurviveCrashesAnywhere plays random scripts, crashes each
// attempt at a random call of the host, and compares the whole with a turn that
// had no crash: the same calls, each announced once and closed once.
func TestRandomScriptsSurviveCrashesAnywhere(t *testing.T) {
	t.Parallel()
	seeds := 1000
	if os.Getenv("LONG") != "" {
		seeds = 100_000
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		randomScript(r, 3, "", &b)
		want := attempts(t, b.String(), func() int { return -1 })
		got := attempts(t, b.String(), func() int { return r.IntN(12) })
		if c := want.Complaints(); len(c) > 0 {
			t.Errorf("seed %d: %q\n%s", seed, c, b.String())
		}
		if got, want := calls(t, got), calls(t, want); !slices.Equal(got, want) {
			t.Errorf("seed %d: calls %q, want %q\n%s", seed, got, want, b.String())
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, b.String())
		}
	}
}

// attempts plays a script to its end; crash says at which call of the host an
// attempt crashes. The last attempts have none, so that there is an end.
func attempts(t *testing.T, src string, crash func() int) *enginetest.Host {
	t.Helper()
	h := enginetest.NewHost("ses_1")
	h.Answer = func(_ context.Context, u harness.ToolUse) (harness.Decision, error) {
		v := harness.Allow
		if id, _, _ := strings.Cut(string(u.Call), ":"); len(id)%3 == 0 {
			v = harness.Deny
		}
		return harness.Decision{Verdict: v}, nil
	}
	turn := h.Begin("go")
	for {
		ctx, cancel := context.WithCancelCause(t.Context())
		at := -1
		if turn.Attempt < 20 {
			at = crash()
		}
		h.Before = func(context.Context, string) {
			if at--; at == -1 {
				cancel(errCrash)
			}
		}
		err := engine(t, src, nil).Run(ctx, turn, h)
		cancel(nil)
		switch {
		case err == nil:
			return h
		case errors.Is(err, errCrash), errors.Is(err, harness.ErrRetry):
			turn = h.Again()
		default:
			t.Fatalf("%v\n%s", err, src)
		}
	}
}
