package enginetest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"harness"
)

// Host is a session in memory, as an engine sees one: it numbers the facts,
// folds them with [harness.State.Apply], keeps the rules of [harness.Host], and
// remembers who broke them. Set the fields before the first turn. The methods
// may be called concurrently.
type Host struct {
	// Before runs at the start of every Emit, Ask and Checkpoint, in the
	// engine's goroutine, and may block; what is "emit token", "ask bash" or
	// "checkpoint REF".
	Before func(ctx context.Context, what string)
	// After runs when such a call has taken effect, before it returns.
	After func(what string)
	// Answer decides what is asked; nil allows everything once. It may block
	// until ctx is done.
	Answer func(ctx context.Context, u harness.ToolUse) (harness.Decision, error)

	steering chan []harness.Word

	mu          sync.Mutex // guards what follows
	events      []harness.Event
	state       harness.State
	known       map[harness.CallID]bool // calls of the turn
	interrupted map[harness.CallID]bool // those that the host closed between attempts
	items       int
	complaints  []string
}

// NewHost is an empty chat session.
func NewHost(id harness.SessionID) *Host {
	h := &Host{steering: make(chan []harness.Word)}
	h.append(id, "", &harness.SessionState{SessionID: id, Kind: harness.Chat, Status: harness.Idle})
	return h
}

// append needs h.mu, unless nobody else knows h yet.
func (h *Host) append(id harness.SessionID, turn harness.TurnID, p harness.Payload) {
	e := harness.NewEvent(id, h.state.Seq+1, time.Now(), turn, p)
	h.events = append(h.events, e)
	h.state.Apply(e)
}

// record adds a fact about the session, or the turn it is in. It needs h.mu.
func (h *Host) record(p harness.Payload) {
	var turn harness.TurnID
	if h.state.Turn != nil {
		turn = h.state.Turn.ID
	}
	h.append(h.state.Session, turn, p)
}

func (h *Host) item() harness.ItemID {
	h.items++
	return harness.ItemID(harness.ItemPrefix + strconv.Itoa(h.items))
}

// Begin starts a turn with a prompt and returns what to run.
func (h *Host) Begin(prompt string) harness.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.record(&harness.UserMessage{ItemID: h.item(), Source: harness.FromTurn, Parts: harness.TextPart(prompt)})
	id := harness.TurnID(harness.TurnPrefix + strconv.Itoa(h.state.Turns+1))
	h.known, h.interrupted = make(map[harness.CallID]bool), make(map[harness.CallID]bool)
	h.append(h.state.Session, id, &harness.TurnStart{TurnID: id, ItemID: h.item(), Attempt: 1})
	return h.turn()
}

// Again starts another attempt at the turn, as after a crash: calls that were
// running are closed as interrupted, those that wait for an answer go on
// waiting.
func (h *Host) Again() harness.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.interrupt()
	t := h.state.Turn
	h.record(&harness.TurnStart{TurnID: t.ID, ItemID: h.item(), Attempt: t.Attempt + 1})
	return h.turn()
}

// End ends the turn as Run's result says.
func (h *Host) End(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.interrupt()
	end := &harness.TurnEnd{TurnID: h.state.Turn.ID, Status: harness.TurnCompleted}
	if err != nil {
		end.Status, end.Reason = harness.TurnError, err.Error()
	}
	h.record(end)
}

func (h *Host) interrupt() {
	for _, c := range append([]harness.OpenCall(nil), h.state.Turn.Open...) {
		if _, waits := h.state.Asked(harness.Answer{Call: c.ID}); waits {
			continue
		}
		h.interrupted[c.ID] = true
		h.record(&harness.ToolOutcome{
			ToolCallID: c.ID, ToolName: c.Name, OutcomeType: harness.OutcomeType(harness.OutcomeError), Status: harness.OutcomeError, Reason: "interrupted",
		})
	}
}

func (h *Host) turn() harness.Turn {
	t := h.state.Turn
	return harness.Turn{
		Session: h.state.Session, ID: t.ID, Attempt: t.Attempt, Parts: t.Prompt.Parts, Ref: h.state.EngineRef, Config: h.state.Config, Began: t.Began,
	}
}

// Events is the log so far.
func (h *Host) Events() []harness.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events[:len(h.events):len(h.events)]
}

// State is what the log adds up to.
func (h *Host) State() *harness.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.Clone()
}

// Decide answers a question that waits, as a person does while no engine does;
// one that was answered is left alone.
func (h *Host) Decide(id harness.CallID, d harness.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.decide(id, d)
}

// decide needs h.mu.
func (h *Host) decide(id harness.CallID, d harness.Decision) {
	if a, waits := h.state.Asked(harness.Answer{Call: id}); waits {
		h.record(&harness.ApprovalApplied{
			RequestID: a.ID, ToolName: a.Tool, ToolCallID: id, Decision: d.Verdict, Scope: d.Scope, Reason: d.Reason, Actor: d.Actor, Source: d.Source,
		})
	}
}

// Complaints says what the engine did that a host has to drop or refuse.
func (h *Host) Complaints() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.complaints...)
}

// complain needs h.mu.
func (h *Host) complain(format string, args ...any) {
	h.complaints = append(h.complaints, fmt.Sprintf(format, args...))
}

// Config is the session's configuration.
func (h *Host) Config() harness.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.Config
}

// Steering is where an engine hears people.
func (h *Host) Steering() <-chan []harness.Word { return h.steering }

// Steer says text to the turn and returns when the engine has taken it, or
// ctx's cause.
func (h *Host) Steer(ctx context.Context, text string) error {
	h.mu.Lock()
	word := harness.Word{Item: h.item(), Parts: harness.TextPart(text)}
	h.record(&harness.UserMessage{ItemID: word.Item, Source: harness.FromSteer, Parts: word.Parts})
	h.mu.Unlock()
	select {
	case h.steering <- []harness.Word{word}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
