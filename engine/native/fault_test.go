package native_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/native"
	"harness/kernel"
	"harness/model"
	"harness/model/modeltest"
	"harness/model/wire"
	"harness/store/memory"
)

// faults are what a provider may do wrong, and how the turn ends.
var faults = []struct {
	name, script string
	says         string // in the failure
	retryable    bool
	keeps        string // text that stays
}{
	{name: "429 with Retry-After 3600", script: "header Retry-After: 3600\nstatus 429 Slow down.", says: "rate limited (429), asks to wait 1h0m0s", retryable: true},
	{name: "529", script: "status 529 Overloaded", says: "overloaded", retryable: true},
	{name: "500", script: "status 500 oops", says: "server error", retryable: true},
	{name: "401", script: "status 401 who are you", says: "not authorised"},
	{name: "400", script: "status 400 no such thing", says: "bad request"},
	{name: "a cut in the middle of a call", script: "say Let me look.\npart bash {\"comm\ndrop", says: "cut off", retryable: true, keeps: "Let me look."},
	{name: "a stream without its end", script: "say Half\nend", says: "cut off", retryable: true, keeps: "Half"},
	{name: "garbage", script: "say Half\ngarbage\ndrop", retryable: true, keeps: "Half"},
	{name: "wrong content type", script: "type text/html\nraw <html>hello</html>", retryable: true},
	{name: "an error in the middle", script: "say Half\nerror overloaded_error busy", retryable: true, keeps: "Half"},
}

func TestEveryFaultOfAProviderEndsAsDocumented(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, client, f.script, nil)
				st := r.prompt("hello")
				failure := one[*harness.Failure](r)
				if st.Status != harness.StatusFailed || failure.Retryable != f.retryable || !strings.Contains(failure.Message, f.says) {
					t.Errorf("%s, %+v, want %q, retryable %t", st.Status, failure, f.says, f.retryable)
				}
				if len(all[*harness.ToolCall](r)) > 0 {
					t.Errorf("a call was made of half an answer\n%s", r.story())
				}
				text := ""
				for _, p := range all[*harness.Token](r) {
					text += p.Text
				}
				if text != f.keeps {
					t.Errorf("kept %q, want %q", text, f.keeps)
				}
			})
		}
	})
}

// A turn that failed goes on where it stopped: the model reads its own half
// answer, and that it was cut off.
func TestAnAttemptAfterACutGoesOn(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when user "cut off"
  say the end.
else
  say Once upon
  drop
`, nil)
		r.k.Close()
		r.setRetries(1)
		r.boot(nil)
		st := r.prompt("tell a story")
		if st.Status != harness.Idle || r.said() != "the end." {
			t.Errorf("%s, said %q\n%s", st.Status, r.said(), r.story())
		}
	})
}

// Retries that the client makes are told, and cost the turn nothing.
func TestRetriesAndFallbacksAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script, err := modeltest.Parse("when request 1\n  status 529 busy\nelse\n  say Hello.")
		if err != nil {
			t.Fatal(err)
		}
		server := modeltest.New(script)
		defer server.Close()
		w := inBubble(t, server, func(c model.Client) model.Client { return model.Retry(c, nil) })
		w.prompt("hello")
		if d := one[*harness.TransportDiagnostic](w); d.Kind != model.NoteRetry || d.Status != "degraded" {
			t.Errorf("diagnostic %+v", d)
		}
		if w.said() != "Hello." {
			t.Errorf("said %q\n%s", w.said(), w.story())
		}
		w.k.Close()
	})
}

func TestTenMinutesOfSilenceEndTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script, err := modeltest.Parse("say Well\npause")
		if err != nil {
			t.Fatal(err)
		}
		server := modeltest.New(script)
		w := inBubble(t, server, nil)
		began := time.Now()
		w.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("hello")})
		w.ends(15 * time.Minute)
		if f := one[*harness.Failure](w); !f.Retryable || !strings.Contains(f.Message, "nothing came for too long") {
			t.Errorf("after %s: %+v", time.Since(began), f)
		}
		server.Close()
		w.k.Close()
	})
}

// The turn's time is over, whatever the model does.
func TestATurnHasADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script, err := modeltest.Parse("slow 10s\nsay " + strings.Repeat("word ", 1000))
		if err != nil {
			t.Fatal(err)
		}
		server := modeltest.New(script)
		w := inBubble(t, server, nil)
		w.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("hello")})
		w.ends(2 * time.Hour)
		if f := one[*harness.Failure](w); f.Retryable || !strings.Contains(f.Message, "the time of the turn is over: it had 1h0m0s") {
			t.Errorf("%+v", f)
		}
		server.Close()
		w.k.Close()
	})
}

// inBubble is a rig without a network and without a workspace, for synctest.
func inBubble(t *testing.T, server *modeltest.Server, wrap func(model.Client) model.Client) *rig {
	t.Helper()
	wires := wire.NewHTTP(&wire.Options{Dial: modeltest.Pipe(t, server)})
	c := clients["anthropic"]("http://model.test", wires)
	if wrap != nil {
		c = wrap(c)
	}
	e := native.New(c, nil)
	r := &rig{TB: t, mem: memory.New(), id: "ses_1", server: server, engine: e}
	r.k = kernel.New(r.mem, map[string]harness.Engine{"native": e}, &kernel.Options{Engine: "native", Window: -1})
	t.Cleanup(func() {
		r.k.Close()
		e.Close()
		wires.CloseIdleConnections()
	})
	if _, err := r.k.Create(t.Context(), harness.NewSession{ID: r.id}); err != nil {
		t.Fatal(err)
	}
	return r
}

// ends waits in the bubble's time.
func (r *rig) ends(within time.Duration) {
	r.Helper()
	time.Sleep(within) // sleep: of the bubble's clock
	synctest.Wait()
	if st, err := r.k.At(r.Context(), r.id, 0); err != nil || st.Turn != nil {
		r.Fatalf("the turn runs after %s: %v\n%s", within, err, fmt.Sprint(r.story()))
	}
}
