package native

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/model"
)

// author writes logs as kernels and engines do, from a seed.
type author struct {
	*rand.Rand
	log   []harness.Event
	turns int
	items int
	calls int
	open  []harness.CallID
	turn  harness.TurnID
	left  []string // queued
}

func (a *author) add(p harness.Payload) {
	seq := harness.Seq(len(a.log) + 1)
	a.log = append(a.log, harness.NewEvent("ses_1", seq, time.Unix(int64(seq), 0), a.turn, p))
}

func (a *author) item() harness.ItemID { a.items++; return harness.ItemID(fmt.Sprint("itm_", a.items)) }

// say queues a prompt, or says something to the turn.
func (a *author) say(source harness.Source) {
	a.add(&harness.UserMessage{ItemID: a.item(), Source: source, Parts: harness.TextPart(fmt.Sprintf("%s %d", source, a.items))})
}

func (a *author) begin() {
	a.turns++
	a.turn = harness.TurnID(fmt.Sprint("trn_", a.turns))
	a.add(&harness.TurnStart{TurnID: a.turn, ItemID: a.item(), Attempt: 1, Fresh: a.IntN(8) == 0})
}

// round is an answer of the model and what came of it.
func (a *author) round() {
	for range a.IntN(3) {
		a.add(&harness.Token{Text: fmt.Sprintf("text%d ", len(a.log))})
		if a.IntN(6) == 0 {
			a.say(harness.FromSteer)
		}
	}
	a.add(&harness.Usage{})
	for range a.IntN(4) {
		a.calls++
		id := harness.CallID(fmt.Sprint("call_", a.calls))
		a.open = append(a.open, id)
		a.add(&harness.ToolCall{Name: "bash", ToolCallID: id, Arguments: json.RawMessage(fmt.Sprintf(`{"command":"%d"}`, a.IntN(3)))})
	}
	if a.IntN(10) == 0 { // a crash
		a.close("interrupted")
		a.add(&harness.TurnStart{TurnID: a.turn, ItemID: a.item(), Attempt: 2})
		return
	}
	if a.IntN(5) == 0 {
		a.say(harness.FromSteer)
	}
	if a.IntN(6) == 0 {
		a.say(harness.FromTurn) // waits for its turn
		a.left = append(a.left, "")
	}
	a.close("")
	switch a.IntN(8) {
	case 0:
		a.add(&harness.HookEvent{Kind: hookTold, Reason: fmt.Sprintf("note %d", len(a.log))})
	case 1:
		a.add(&harness.Reflection{Text: fmt.Sprintf("reflection %d", len(a.log))})
	case 2:
		a.add(&harness.HookEvent{Kind: hookStubs})
	case 3:
		a.add(&harness.ContextCompacted{Summary: fmt.Sprintf("summary %d", len(a.log)), PreservedMessages: a.IntN(7)})
	}
	a.add(&harness.HookEvent{Kind: hookSteered})
}

func (a *author) close(reason string) {
	a.Shuffle(len(a.open), func(i, j int) { a.open[i], a.open[j] = a.open[j], a.open[i] })
	for _, id := range a.open {
		status := []string{harness.OutcomeOK, harness.OutcomeError, harness.OutcomeDenied, harness.OutcomeArtifact}[a.IntN(4)]
		if reason != "" {
			status = harness.OutcomeError
		}
		if status == harness.OutcomeOK {
			a.add(&harness.ToolResult{ToolCallID: id, Output: strings.Repeat(fmt.Sprint("out of ", id, "\n"), 1+a.IntN(80))})
		}
		a.add(&harness.ToolOutcome{ToolCallID: id, Status: status, Reason: reason})
	}
	a.open = nil
}

func (a *author) write(turns int) {
	a.add(&harness.SessionState{Status: harness.Idle})
	for range turns {
		if len(a.left) > 0 {
			a.left = a.left[1:]
		} else {
			a.say([]harness.Source{harness.FromTurn, harness.FromSubmit, harness.FromResume}[a.IntN(3)])
		}
		a.begin()
		for range 1 + a.IntN(4) {
			a.round()
		}
		a.add(&harness.Completed{})
		a.add(&harness.TurnEnd{TurnID: a.turn, Status: harness.TurnCompleted})
		a.turn = ""
	}
}

func folded(log []harness.Event) *conversation {
	c := new(conversation)
	for _, e := range log {
		c.apply(e)
	}
	return c
}

func seeds(n int) int {
	if os.Getenv("LONG") != "" {
		return n * 50
	}
	return n
}

func TestAConversationIsAFunctionOfItsLog(t *testing.T) {
	t.Parallel()
	for seed := range seeds(300) {
		a := &author{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
		a.write(1 + a.IntN(6))
		whole := folded(a.log)
		want := whole.messages()
		wellFormed(t, seed, want)

		// A copy in the middle goes on by itself, and leaves the other alone.
		cut := a.IntN(len(a.log))
		half := folded(a.log[:cut])
		before := half.messages()
		copied := half.clone()
		for _, e := range a.log[cut:] {
			copied.apply(e)
		}
		if got := copied.messages(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: a copy made after %d goes on to\n%s\nwant\n%s", seed, cut, text(got), text(want))
		}
		if got := half.messages(); !reflect.DeepEqual(got, before) {
			t.Fatalf("seed %d: a copy changed what it was made of", seed)
		}

		// From the place that a checkpoint would name, it is the same.
		from := whole.start()
		if got := folded(a.log[from:]).messages(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: folded after %d of %d\n%s\nwant\n%s", seed, from, len(a.log), text(got), text(want))
		}
	}
}

// wellFormed checks what every provider wants: sides alternate, beginning with
// the user, and each call is followed by its result, in order.
func wellFormed(t *testing.T, seed int, all []model.Message) {
	t.Helper()
	for i, m := range all {
		want := model.User
		if i%2 == 1 {
			want = model.Assistant
		}
		if m.Role != want || len(m.Parts) == 0 {
			t.Fatalf("seed %d: message %d is %s with %d parts\n%s", seed, i, m.Role, len(m.Parts), text(all))
		}
		var calls, results []string
		for _, p := range m.Parts {
			if p.Kind == model.PartCall {
				calls = append(calls, p.ID)
			}
		}
		if len(calls) == 0 {
			continue
		}
		if i+1 < len(all) {
			for _, p := range all[i+1].Parts {
				if p.Kind == model.PartResult {
					results = append(results, p.ID)
				}
			}
		}
		if !reflect.DeepEqual(calls, results) {
			t.Fatalf("seed %d: the calls %q are followed by the results %q\n%s", seed, calls, results, text(all))
		}
	}
}

func text(all []model.Message) string {
	var b strings.Builder
	for _, m := range all {
		b.WriteString(string(m.Role) + ":")
		for _, p := range m.Parts {
			fmt.Fprintf(&b, " [%s %s %s]", p.Kind, p.ID, cut(model.Plain([]model.Part{p}), 30))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Nothing that a log can hold makes the fold fail.
func FuzzConversation(f *testing.F) {
	for seed := range uint64(5) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 2))}
		a.write(1)
		var b []byte
		for _, e := range a.log {
			b = append(append(b, e.JSON()...), '\n')
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := new(conversation)
		for line := range strings.Lines(string(b)) {
			if e, err := harness.DecodeEvent([]byte(strings.TrimSpace(line))); err == nil {
				c.apply(e)
			}
		}
		for _, m := range c.clone().messages() {
			if len(m.Parts) == 0 {
				t.Fatal("a message without parts")
			}
		}
	})
}

func TestCirclesAreSeen(t *testing.T) {
	t.Parallel()
	calls := func(names ...string) (all []*call) {
		for _, n := range names {
			name, args, _ := strings.Cut(n, " ")
			all = append(all, &call{name: name, args: args, status: harness.OutcomeOK})
		}
		return all
	}
	failing := calls("read a", "read b", "read c")
	for _, k := range failing {
		k.status, k.text = harness.OutcomeError, "no such file"
	}
	for _, c := range []struct {
		name  string
		calls []*call
		want  bool
	}{
		{"nothing", nil, false},
		{"twice the same", calls("a 1", "a 1"), false},
		{"three times the same", calls("b 1", "a 1", "a 1", "a 1"), true},
		{"other arguments", calls("a 1", "a 2", "a 1"), false},
		{"in turns, five", calls("a 1", "b 1", "a 1", "b 1", "a 1"), false},
		{"in turns, six", calls("a 1", "b 1", "a 1", "b 1", "a 1", "b 1"), true},
		{"three in turns", calls("a 1", "b 1", "c 1", "a 1", "b 1", "c 1"), false},
		{"the same error", failing, true},
		{"the same error and then none", append(failing[:2:2], calls("read d")...), false},
	} {
		if got := circle(c.calls); (got != "") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
