package health_test

import (
	"slices"
	"testing"
	"time"

	"harness"
	"harness/health"
)

// teller writes a log, event by event, and folds it.
type teller struct {
	t    testing.TB
	fold *health.Fold
	log  []harness.Event
	now  time.Time
	turn harness.TurnID
}

func newTeller(t testing.TB, policy *harness.HealthPolicy) *teller {
	l := &teller{t: t, fold: health.New(nil), now: time.UnixMilli(1_700_000_000_000).UTC()}
	l.tell(&harness.SessionState{SessionID: "ses_h", Status: harness.Idle, Policy: &harness.SessionPolicy{Health: policy}})
	return l
}

// tell adds events, a second apart.
func (l *teller) tell(payloads ...harness.Payload) {
	for _, p := range payloads {
		l.after(time.Second, p)
	}
}

// after adds an event some time later.
func (l *teller) after(d time.Duration, p harness.Payload) {
	l.now = l.now.Add(d)
	e := harness.NewEvent("ses_h", harness.Seq(len(l.log)+1), l.now, l.turn, p)
	l.log = append(l.log, e)
	l.fold.Apply(e)
}

// begin starts a turn.
func (l *teller) begin() {
	l.turn = harness.TurnID("trn_" + string(rune('a'+len(l.log)%26)) + harness.EventID("x", harness.Seq(len(l.log)+1)))
	l.tell(&harness.UserMessage{ItemID: "itm_u", Source: harness.FromTurn, Parts: harness.TextPart("go")}, &harness.TurnStart{TurnID: l.turn, ItemID: "itm_a", Attempt: 1})
}

// end ends it.
func (l *teller) end(status string) {
	id := l.turn
	l.tell(&harness.TurnEnd{TurnID: id, Status: status})
	l.turn = ""
}

// call makes a call that ends like this.
func (l *teller) call(name, args, status, text string) {
	id := harness.CallID(harness.EventID("call", harness.Seq(len(l.log)+1)))
	l.tell(&harness.ToolCall{Name: name, Arguments: []byte(args), ToolCallID: id})
	o := &harness.ToolOutcome{ToolCallID: id, ToolName: name, Status: status, OutcomeType: harness.OutcomeType(status), ElapsedMS: 5}
	if status == harness.OutcomeOK {
		l.tell(&harness.ToolResult{ToolCallID: id, ToolName: name, Output: text})
	} else {
		o.Error = text
	}
	l.tell(o)
}

// has reports whether a flag is up.
func (l *teller) has(code string) bool {
	return slices.ContainsFunc(l.fold.Snapshot().Flags, func(f health.Flag) bool { return f.Code == code })
}

func (l *teller) codes() (list []string) {
	for _, f := range l.fold.Snapshot().Flags {
		list = append(list, f.Code)
	}
	return list
}
