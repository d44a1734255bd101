package native_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/engine/native"
	"harness/model"
)

// small is a model with a window of 4,000 tokens.
func small(r *rig) {
	r.opts.Facts = model.Facts{"anthropic/test-model": {Window: 4000}, "openai/test-model": {Window: 4000}}
	r.opts.Tools = r.opts.Tools[:4] // bash and read: their descriptions take room, too
	r.opts.System = "Work."
}

// filling calls bash over and over; each answer counts more tokens.
func filling(rounds, first, each int) string {
	var b strings.Builder
	b.WriteString("when user \"about to be shortened\"\n  usage in=100 out=20\n  say They asked for numbers; SUMMARY.\n")
	for i := range rounds {
		fmt.Fprintf(&b, "when user \"fill\" and step %d\n  usage in=%d out=10\n  call bash {\"command\":\"echo start-%d; head -c 1500 /dev/zero | tr '\\\\0' x\"}\n", i+1, first+i*each, i+1)
	}
	b.WriteString("else\n  usage in=500 out=10\n  say Done.\n")
	return b.String()
}

func TestAFullWindowIsWarnedOfShortenedAndSummarised(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, filling(8, 1500, 330), small)
		st := r.prompt("fill it")
		if st.Status != harness.Idle || r.said() != "Done." {
			t.Fatalf("%s, said %q\n%s", st.Status, r.said(), r.story())
		}
		if w := one[*harness.ContextWarning](r); w.LimitTokens != 4000 || w.Pct < 70 || w.Pct > 90 || w.UsedTokens < 2800 {
			t.Errorf("warning %+v", w)
		}
		hooks := 0
		for _, h := range all[*harness.HookEvent](r) {
			if h.Kind == "context_shortened" {
				hooks++
			}
		}
		if hooks == 0 {
			t.Errorf("old results were not shortened\n%s", r.story())
		}
		stubbed := false
		for _, q := range r.server.Requests() {
			stubbed = stubbed || bytes.Contains(q.Body, []byte("was left out to save room"))
		}
		if !stubbed {
			t.Error("no request has a stub")
		}
		for _, u := range all[*harness.Usage](r) {
			if u.ContextPct == nil || u.CostUSD != nil {
				t.Errorf("usage %+v", u)
			}
		}
	})
}

func TestACompactionReplacesWhatIsBeforeIt(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, filling(5, 2000, 600), small)
		r.prompt("fill it")
		c := all[*harness.ContextCompacted](r)
		if len(c) == 0 {
			t.Fatalf("nothing was compacted\n%s", r.story())
		}
		if p := c[0]; p.Summary != "They asked for numbers; SUMMARY." || p.OriginalCount <= p.CompactedCount || p.PreservedMessages == 0 || p.TokensSaved <= 0 || p.ResumeCursor == nil {
			t.Errorf("compacted %+v", p)
		}
		cursor, err := harness.ParseCursor(*c[0].ResumeCursor)
		if err != nil || cursor.Kind != harness.AtCompaction || cursor.Session != r.id {
			t.Errorf("cursor %v, %v", cursor, err)
		}
		for _, e := range r.log() {
			if e.Payload == harness.Payload(c[0]) && e.Seq != cursor.Seq {
				t.Errorf("the cursor is at %d, the event at %d", cursor.Seq, e.Seq)
			}
		}
		if body := string(r.last().Body); !strings.Contains(body, "SUMMARY") || strings.Contains(body, "start-1") {
			t.Errorf("the last request does not go on with the summary: %s", body)
		}
		before := r.ref()
		r.restart()
		r.prompt("and now?")
		if body := string(r.last().Body); !strings.Contains(body, "SUMMARY") || strings.Contains(body, "start-1") {
			t.Errorf("after a restart the request does not go on with the summary: %s", body)
		}
		if before == "native:0" || before == "" {
			t.Errorf("the checkpoint says %q: the whole log is read again", before)
		}
	})
}

func TestAFailedCompactionDoesNotLoseTheTurn(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		script := strings.Replace(filling(5, 2000, 600), "usage in=100 out=20\n  say They asked for numbers; SUMMARY.", "status 500 broken", 1)
		r := newRig(t, client, script, small)
		st := r.prompt("fill it")
		if st.Status != harness.Idle || r.said() != "Done." {
			t.Errorf("%s, said %q\n%s", st.Status, r.said(), r.story())
		}
		if d := all[*harness.TransportDiagnostic](r); len(d) == 0 || d[0].Kind != "compaction_failed" {
			t.Errorf("diagnostics %+v", d)
		}
	})
}

// A provider that says that the conversation is too long is believed, once.
func TestTooLongIsCompactedOnceAndAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		for _, c := range []struct{ name, summary, want string }{
			{"the model summarises", "say SHORT", "SHORT"},
			{"nobody can summarise", "status 500 no", "No summary could be written"},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, client, fmt.Sprintf(`
when user "about to be shortened"
  %s
when user "summary of the conversation"
  say Fits.
when user "third"
  status 400 prompt is too long: 300000 tokens > 200000 maximum context_length_exceeded
else
  say Hello.
`, c.summary), nil)
				r.prompt("first")
				r.prompt("second")
				st := r.prompt("third")
				if st.Status != harness.Idle || r.said() != "Fits." {
					t.Errorf("%s, said %q\n%s", st.Status, r.said(), r.story())
				}
				if p := one[*harness.ContextCompacted](r); !strings.Contains(p.Summary, c.want) {
					t.Errorf("summary %q", p.Summary)
				}
			})
		}
	})
}

func TestPeopleCanAskForACompaction(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when user "about to be shortened"
  say SHORT
else
  say Hello.
`, nil)
		r.prompt("/compact")
		if r.said() != "There is nothing to compact yet." {
			t.Errorf("said %q", r.said())
		}
		r.prompt("first")
		r.prompt("second")
		r.prompt("/compact")
		if p := one[*harness.ContextCompacted](r); p.Summary != "SHORT" || !strings.Contains(r.said(), "compacted") {
			t.Errorf("%+v, said %q", p, r.said())
		}
		r.prompt("third")
		if body := string(r.last().Body); !strings.Contains(body, "SHORT") {
			t.Errorf("the request goes on without the summary: %s", body)
		}
	})
}

// Two processes that fold the same log ask in the same bytes, and each request
// begins with the one before.
func TestTheSameLogMakesTheSameRequests(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when user "last"
  say Bye.
when step 1
  say Looking.
  call bash {"command": "echo <1> & echo 2"}
  call read {"path":"missing"}
else
  say Done.
`, nil)
		r.write("AGENTS.md", "Use tabs.")
		r.prompt("one")
		r.prompt("two")
		clone := r.mem.Clone()
		r.prompt("last")
		here := r.last().Body
		r.k.Close()
		r.engine.Close()
		r.mem = clone
		r.boot(nil)
		r.prompt("last")
		if there := r.last().Body; !bytes.Equal(here, there) {
			t.Errorf("one process asks\n%s\nanother\n%s", here, there)
		}
		if client == "anthropic" { // its marks of what to cache move along
			return
		}
		var before []json.RawMessage
		for i, q := range r.server.Requests()[:5] {
			now := messages(t, q.Body)
			for j, m := range before {
				if !bytes.Equal(m, now[j]) {
					t.Errorf("message %d of request %d was\n%s\nand is\n%s", j, i+1, m, now[j])
				}
			}
			before = now
		}
	})
}

// What a process knows of its own turn and what another folds from the log are
// the same, whatever happened in it.
func TestTheNextTurnBeginsWithEverythingBefore(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"chat", "responses"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, client, `
when user "bye"
  say Bye.
when request 1
  say One
  pause gate
  say two.
  call bash {"command":"seq 1 4000"}
  call read {"path": "missing"}
when request 2
  call bash {"command":"exit 1"}
  call nothing {}
when request 3
  call bash {"command":"exit 2", "timeout_seconds": "9"}
when request 4
  say Cut
  stop max_tokens
when request 5
  say short.
`, func(r *rig) {
				r.kopts.Shelf = newShelf()
				r.opts.Hooks = []native.Hook{{On: native.HookAfterTool, Tools: "read", Command: "echo look elsewhere; exit 2"}}
			})
			r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("go")})
			<-r.server.Reached("gate")
			r.until("some text", func(st *harness.State) bool { return strings.Contains(said(st), "One") })
			r.do(harness.Steer{Parts: harness.TextPart("faster")})
			r.server.Open("gate")
			r.rest()
			r.prompt("bye")
			r.restart()
			r.prompt("bye again")
			list := r.server.Requests()
			if len(list) != 7 {
				t.Fatalf("%d requests\n%s", len(list), r.story())
			}
			var before []json.RawMessage
			for i, q := range list {
				now := messages(t, q.Body)
				for j, m := range before {
					if !bytes.Equal(m, now[j]) {
						t.Errorf("message %d of request %d was\n%s\nand is\n%s", j, i+1, m, now[j])
					}
				}
				before = now
			}
		})
	}
}

func messages(t *testing.T, body []byte) []json.RawMessage {
	t.Helper()
	var b struct{ Messages, Input []json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	return append(b.Messages, b.Input...)
}

// ref is the engine's last checkpoint.
func (r *rig) ref() (ref string) {
	for _, c := range all[*harness.SessionCheckpoint](r) {
		if c.EngineRef != "" {
			ref = c.EngineRef
		}
	}
	return ref
}
