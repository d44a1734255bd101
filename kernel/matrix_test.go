package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
)

// scene is a machine brought into a status by inputs, with the log that tells
// how.
type scene struct {
	m     *machine
	now   time.Time
	log   []harness.Event
	ids   int
	rules []harness.Rule // of the session's directory
}

// newScene loads a machine from a log, as a wake does.
func newScene(log []harness.Event, draining bool) *scene {
	s := &scene{now: time.UnixMilli(1_700_000_000_000).UTC(), log: slices.Clone(log), ids: 100 * len(log)}
	l := limits{cancelGrace: time.Second, maxQueue: 2, backoff: time.Second}
	s.m = newMachine(fold(log), l, func(prefix string) string { s.ids++; return fmt.Sprintf("%s%d", prefix, s.ids) })
	s.m.draining = draining
	s.m.standing = func(made []harness.Rule) []harness.Rule { return slices.Concat(s.rules, made) }
	s.do(recovered{})
	return s
}

// do feeds an input, lets everything become durable, and returns the effects.
func (s *scene) do(in input) []effect {
	var effects []effect
	r := s.m.step(s.now, in)
	for {
		effects = append(effects, r.effects...)
		for _, e := range r.effects {
			if e, ok := e.(stand); ok {
				s.rules = append(s.rules, e.rule)
			}
		}
		if r.commit == nil {
			return effects
		}
		s.log = append(s.log, r.commit.Events...)
		r = s.m.step(s.now, appended{events: r.commit.Events})
	}
}

func (s *scene) submit(text string) {
	s.do(commanded{nil, harness.Submit{Parts: harness.TextPart(text), OnBusy: harness.Enqueue}})
}

func (s *scene) turn() harness.TurnID { return s.m.state.Turn.ID }

// ask opens a call and asks about it.
func (s *scene) ask(call harness.CallID) {
	s.do(emitted{s.turn(), report{payload: &harness.ToolCall{ToolCallID: call, Name: "bash"}}})
	s.do(asked{nil, s.turn(), harness.ToolUse{Call: call, Tool: "bash", Access: harness.AccessExecute}, nil})
}

func opening(p harness.SessionState) []harness.Event {
	p.SessionID, p.Status, p.Directory = "ses_m", harness.Idle, "/w"
	return []harness.Event{harness.NewEvent("ses_m", 1, time.UnixMilli(1_700_000_000_000), "", &p)}
}

func running() *scene {
	s := newScene(opening(harness.SessionState{}), false)
	s.submit("first")
	s.do(emitted{s.turn(), report{payload: &harness.Token{Text: "hello"}}})
	return s
}

func awaiting() *scene {
	s := running()
	s.ask("call_old")
	s.do(commanded{nil, harness.Answer{Call: "call_old", Decision: harness.Decision{Verdict: harness.Allow}}})
	s.ask("call_1")
	return s
}

// working is a session that works by itself, in its first turn.
func working(end func(*scene)) *scene {
	s := newScene(opening(harness.SessionState{Kind: harness.Background, MaxRetries: new(1)}), false)
	s.submit("first")
	s.do(called{place: true})
	end(s)
	return s
}

func stays(*scene) {}

// scenes reaches every status by real inputs, with the turn's engine there and
// not. A turn that is open without an engine and without a question exists only
// in a server that drains: otherwise a load sees to it at once.
var scenes = []struct {
	name   string
	status harness.Status
	live   bool
	reach  func() *scene
}{
	{"idle", harness.Idle, false, func() *scene { return newScene(opening(harness.SessionState{}), false) }},
	{"queued", harness.Queued, false, func() *scene {
		s := running()
		s.submit("second")
		s.do(drained{})
		s.do(ended{turn: s.turn()})
		return s
	}},
	{"running", harness.Running, true, running},
	{"running/full", harness.Running, true, func() *scene {
		s := running()
		s.submit("second")
		s.submit("third")
		return s
	}},
	{"running/cancelling", harness.Running, true, func() *scene {
		s := running()
		s.do(commanded{nil, harness.Cancel{}})
		return s
	}},
	{"running/pausing", harness.Running, true, func() *scene {
		s := running()
		s.do(commanded{nil, harness.Pause{}})
		return s
	}},
	{"running/orphaned", harness.Running, false, func() *scene { return newScene(running().log, true) }},
	{"awaiting", harness.AwaitingApproval, true, awaiting},
	{"awaiting/restarted", harness.AwaitingApproval, false, func() *scene { return newScene(awaiting().log, false) }},
	{"paused", harness.Paused, false, func() *scene {
		s := newScene(opening(harness.SessionState{}), false)
		s.do(commanded{nil, harness.Pause{}})
		return s
	}},
	{"recovering", harness.Recovering, false, func() *scene {
		s := newScene(opening(harness.SessionState{MaxRetries: new(1)}), false)
		s.submit("first")
		s.do(ended{turn: s.turn(), err: errors.New("try again"), retry: true})
		at := slices.IndexFunc(s.log, func(e harness.Event) bool {
			p, ok := e.Payload.(*harness.SessionState)
			return ok && p.Status == harness.Recovering
		})
		return newScene(s.log[:at+1], true)
	}},
	{"completed", harness.StatusCompleted, false, func() *scene {
		return working(func(s *scene) { s.do(ended{turn: s.turn()}) })
	}},
	{"failed", harness.StatusFailed, false, func() *scene {
		return working(func(s *scene) { s.do(ended{turn: s.turn(), err: errors.New("broken")}) })
	}},
	{"cancelled", harness.StatusCancelled, false, func() *scene {
		return working(func(s *scene) {
			s.do(commanded{nil, harness.Cancel{}})
			s.do(ended{turn: s.turn(), err: errors.New("stopped")})
		})
	}},
	{"work/idle", harness.Idle, false, func() *scene {
		return newScene(opening(harness.SessionState{Kind: harness.Background}), false)
	}},
	{"work/queued", harness.Queued, false, func() *scene {
		s := newScene(opening(harness.SessionState{Kind: harness.Background}), false)
		s.submit("first")
		return s
	}},
	{"work/running", harness.Running, true, func() *scene { return working(stays) }},
	{"work/awaiting", harness.AwaitingApproval, true, func() *scene { return working(func(s *scene) { s.ask("call_1") }) }},
	{"work/awaiting/restarted", harness.AwaitingApproval, false, func() *scene {
		return newScene(working(func(s *scene) { s.ask("call_1") }).log, false)
	}},
	{"work/pausing", harness.Running, true, func() *scene {
		return working(func(s *scene) {
			s.do(emitted{s.turn(), report{payload: &harness.ToolCall{ToolCallID: "call_2", Name: "bash"}}})
			s.do(commanded{nil, harness.Pause{}})
		})
	}},
	{"work/paused", harness.Paused, false, func() *scene {
		return working(func(s *scene) {
			s.do(commanded{nil, harness.Pause{}})
			s.do(ended{turn: s.turn(), err: errors.New("stopped")})
		})
	}},
	{"work/paused/asked", harness.Paused, false, func() *scene {
		s := newScene(working(func(s *scene) { s.ask("call_1") }).log, false)
		s.do(commanded{nil, harness.Pause{}})
		return s
	}},
	{"work/recovering", harness.Recovering, false, func() *scene {
		return working(func(s *scene) { s.do(ended{turn: s.turn(), err: errors.New("try again"), retry: true}) })
	}},
	{"work/resumed", harness.Queued, false, func() *scene {
		return working(func(s *scene) {
			s.do(commanded{nil, harness.Pause{}})
			s.do(ended{turn: s.turn(), err: errors.New("stopped")})
			s.do(commanded{nil, harness.Resume{}})
		})
	}},
	{"work/stopped", harness.Queued, false, func() *scene {
		return working(func(s *scene) {
			s.do(drained{})
			s.do(ended{turn: s.turn(), err: harness.ErrShutdown, leave: true})
		})
	}},
}

// stimuli are all commands, in all the ways that matter.
var stimuli = []struct {
	name string
	cmd  harness.Command
}{
	{"submit", harness.Submit{Parts: harness.TextPart("more")}},
	{"submit/reject", harness.Submit{Parts: harness.TextPart("more"), OnBusy: harness.Reject}},
	{"submit/queue", harness.Submit{Parts: harness.TextPart("more"), OnBusy: harness.Enqueue}},
	{"submit/interrupt", harness.Submit{Parts: harness.TextPart("more"), OnBusy: harness.Interrupt}},
	{"submit/empty", harness.Submit{}},
	{"steer", harness.Steer{Parts: harness.TextPart("left")}},
	{"steer/empty", harness.Steer{}},
	{"cancel", harness.Cancel{}},
	{"cancel/other", harness.Cancel{Turn: "trn_other"}},
	{"answer", harness.Answer{Call: "call_1", Decision: harness.Decision{Verdict: harness.Allow}}},
	{"answer/always", harness.Answer{Call: "call_1", Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}}},
	{"answer/deny", harness.Answer{Call: "call_1", Decision: harness.Decision{Verdict: harness.Deny}}},
	{"answer/again", harness.Answer{Call: "call_old", Decision: harness.Decision{Verdict: harness.Allow}}},
	{"answer/otherwise", harness.Answer{Call: "call_old", Decision: harness.Decision{Verdict: harness.Deny}}},
	{"answer/unknown", harness.Answer{Approval: "apr_none", Decision: harness.Decision{Verdict: harness.Allow}}},
	{"answer/nonsense", harness.Answer{Call: "call_1", Decision: harness.Decision{Verdict: "perhaps"}}},
	{"configure", harness.Configure{Patch: harness.ConfigPatch{Model: new("m2")}}},
	{"configure/empty", harness.Configure{}},
	{"configure/bad", harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.Mode("nonsense"))}}},
	{"rewind", harness.Rewind{}},
	{"pause", harness.Pause{}},
	{"resume", harness.Resume{}},
}

// Every command in every status has an answer, and it is this one: the error's
// code or ok, the status that follows if it is another, and the events, in
// order.
func TestEveryCommandInEveryStatus(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	reached := map[harness.Status]bool{}
	for _, sc := range scenes {
		for _, st := range stimuli {
			s := sc.reach()
			if s.m.state.Status != sc.status || (s.m.engine != "") != sc.live {
				t.Fatalf("scene %s: status %s, engine %q", sc.name, s.m.state.Status, s.m.engine)
			}
			reached[sc.status] = true
			got[st.name+" "+sc.name] = s.answer(t, st.cmd)
		}
	}
	for _, st := range harness.Statuses() {
		if !reached[st] {
			t.Errorf("no scene reaches %s", st)
		}
	}
	compareTable(t, commandTable, got)
}

// What is not a command, in every status: a place in the line, a look at the
// clock, before and after the session has expired; a restart.
func TestEveryCallInEveryStatus(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, sc := range scenes {
		for name, in := range map[string]input{"called": called{from: "client", place: true}, "looked": called{from: "client"}} {
			got[name+" "+sc.name] = sc.reach().hear(t, in)
			s := sc.reach()
			s.m.state.Course.Expires = s.now
			got[name+"/expired "+sc.name] = s.hear(t, in)
		}
		s := sc.reach()
		got["restarted "+sc.name] = newScene(s.log, false).since(len(s.log), s.m.state.Status)
		expired := newScene(s.log, true)
		expired.m.draining, expired.m.state.Course.Expires = false, s.now
		expired.do(recovered{})
		got["restarted/expired "+sc.name] = expired.since(len(s.log), s.m.state.Status)
	}
	compareTable(t, callTable, got)
}

// since tells what came into the log since, and the status if it is another.
func (s *scene) since(from int, before harness.Status) string {
	words := kinds(s.log[from:])
	if s.m.state.Status != before {
		words = append([]string{string(s.m.state.Status)}, words...)
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}

// answer carries out a command and tells in a line what came of it.
func (s *scene) answer(t *testing.T, cmd harness.Command) string {
	return s.hear(t, commanded{"client", cmd})
}

// hear is answer for whatever is answered with a reply.
func (s *scene) hear(t *testing.T, cmd input) string {
	from, before := len(s.log), s.m.state.Status
	code := ""
	for _, e := range s.do(cmd) {
		if r, ok := e.(reply); ok && r.to == "client" {
			if code != "" {
				t.Fatalf("%+v was answered twice", cmd)
			}
			code = "ok"
			if r.err != nil {
				code = harness.AsError(r.err).Code
			}
		}
	}
	if code == "" {
		t.Fatalf("%+v was not answered", cmd)
	}
	if s.m.state.Status != before {
		code += " " + string(s.m.state.Status)
	}
	return strings.Join(append([]string{code}, kinds(s.log[from:])...), " ")
}

func kinds(events []harness.Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, string(e.Type()))
	}
	return list
}

// compareTable compares what came of pairs "stimulus scene" with lines of
// "stimulus: answer | scene scene …".
func compareTable(t *testing.T, want string, got map[string]string) {
	t.Helper()
	expected := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(want)) {
		rule, where, _ := strings.Cut(strings.TrimSpace(line), " | ")
		stimulus, answer, _ := strings.Cut(rule, ": ")
		for scene := range strings.FieldsSeq(where) {
			expected[stimulus+" "+scene] = answer
		}
	}
	for pair, g := range got {
		if w, ok := expected[pair]; !ok {
			t.Errorf("no answer is expected for %s: got %q", pair, g)
		} else if w != g {
			t.Errorf("%s: got %q, want %q", pair, g, w)
		}
		delete(expected, pair)
	}
	for pair := range expected {
		t.Errorf("%s: an answer is expected, but there is no such pair", pair)
	}
}
