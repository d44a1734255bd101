package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"harness"
)

// run is one run, and the host of the engine that does it.
type run struct {
	id      string
	attempt int
	kept    bool // it outlives the connection of its query
	keep    *keeper
	spool   *spool
	history []rawEvent
	can     harness.Abilities
	hands   bool                // its followers do tasks
	words   chan []harness.Word // size 1: see say
	ctx     context.Context     // ends when the run is told to
	cancel  context.CancelCauseFunc

	session harness.SessionID

	mu       sync.Mutex // guards what follows
	turn     harness.Turn
	began    time.Time
	chapters []chapter
	state    string
	calls    map[harness.CallID]bool // true while open
	asked    map[harness.CallID]*question
	keys     map[string]bool // of everything that was said
	tasks    map[string]*handed
	handed   int // how many tasks there were
	config   harness.Config
	ref      string
	said     strings.Builder
	whole    string
	heard    bool // somebody read it to its end
}

// Why a run is told to end.
var (
	errCancelled = errors.New("the run was cancelled")
	errStopped   = fmt.Errorf("the runner was stopped: %w", harness.ErrRetry)
)

func newRun(q Query, can harness.Abilities, s *spool) *run {
	r := &run{
		id: q.RequestID, session: q.SessionID, attempt: q.Attempt, kept: q.RequestID != "", spool: s, can: can, words: make(chan []harness.Word, 1),
		state: Running, calls: map[harness.CallID]bool{}, asked: map[harness.CallID]*question{}, keys: map[string]bool{}, tasks: map[string]*handed{}, hands: q.Tasks, ref: q.Resume,
	}
	for _, raw := range q.History {
		r.history = append(r.history, rawEvent(raw))
	}
	if q.Config != nil {
		r.config = *q.Config
	}
	parts := q.Parts
	if len(parts) == 0 {
		parts = harness.TextPart(q.Prompt)
	}
	if r.id == "" {
		r.id = newID()
	}
	r.turn = harness.Turn{
		Session: q.SessionID, Kind: q.Kind, ID: harness.TurnID(r.id), Attempt: max(1, q.Attempt), Parts: parts, Fresh: q.Fresh, Directory: q.Directory,
		Ref: q.Resume, Config: r.config, Began: q.Began,
		Final: q.Final || q.RequestID == "", // who knows no more than S2 does not try again
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	if len(r.history) == 0 && r.turn.Began == 0 {
		r.turn.Began = 2 // behind its prompt
	}
	r.chapter(len(r.history) > 0)
	return r
}

// begin tells that the run is there.
func (r *run) begin() error {
	_, err := r.spool.add(Frame{Type: Started, RequestID: r.id, Attempt: r.attempt})
	return err
}

// work has the engine do it, and again for words that came when it had just
// stopped listening, until the run is over.
func (r *run) work(e harness.Engine) {
	r.keep.begin(r)
	for {
		r.mu.Lock()
		turn := r.turn
		r.mu.Unlock()
		if !r.can.Approve {
			r.keep.before(r)
		}
		var h harness.Host = r
		if r.hands {
			h = delegating{r}
		}
		err := safely(r.ctx, e, turn, h)
		r.keep.after(r)
		if r.over(err) {
			return
		}
	}
}

// safely is e.Run, with a panic turned into the failure of this one run.
func safely(ctx context.Context, e harness.Engine, t harness.Turn, h harness.Host) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine panicked: %v", p)
		}
	}()
	return e.Run(ctx, t, h)
}

// over sees to what follows the engine's return, and reports whether nothing
// does.
func (r *run) over(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := context.Cause(r.ctx)
	if errors.Is(why, errFull) { // whatever the engine makes of it, not all of it was told
		err = why
	}
	var words []harness.Word
	select {
	case words = <-r.words:
	default:
	}
	if err == nil && why == nil && len(words) > 0 {
		r.again(harness.Spoken(words))
		return false
	}
	var f Frame
	switch {
	case err == nil:
		r.state, f = RunCompleted, Frame{Type: Completed, SessionID: r.ref, Result: r.result()}
	case errors.Is(why, errCancelled):
		r.state, f = RunCancelled, Frame{Type: Cancelled, Reason: "user"}
	case errors.Is(why, harness.ErrHeld):
		r.state, f = RunCancelled, Frame{Type: Cancelled, Reason: harness.ErrHeld.Code}
	default:
		if why != nil {
			err = why
		}
		r.state, f = RunFailed, Frame{Type: Failed, Message: err.Error(), Retryable: errors.Is(err, harness.ErrRetry)}
		for _, w := range words {
			f.Unread = append(f.Unread, string(w.Item))
		}
	}
	clear(r.asked)
	clear(r.tasks)
	_, _ = r.spool.add(f) // a spool that is broken ends its readers, too
	return true
}

// again makes words the engine's next turn. r.mu is held.
func (r *run) again(parts []harness.Part) {
	r.turn.ID = harness.TurnID(r.id + "." + strconv.Itoa(len(r.chapters)+1))
	r.turn.Parts, r.turn.Fresh, r.turn.Ref, r.turn.Config = parts, false, r.ref, r.config
	r.chapter(false)
}

// result is the run's answer as S2 wants it, if it is short enough.
func (r *run) result() rawEvent {
	text := r.whole
	if text == "" {
		text = r.said.String()
	}
	if text == "" || len(text) > maxResult {
		return nil
	}
	b, err := encode(text)
	if err != nil {
		return nil
	}
	return b
}

// say passes words on to the engine, once for each key. It reports whether the
// engine must be asked to work again, because it had completed.
func (r *run) say(w Words) (again bool, err error) {
	parts := w.Parts
	if len(parts) == 0 {
		parts = harness.TextPart(w.Message)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.can.Steer:
		return false, fmt.Errorf("the engine takes no words while it runs: %w", harness.ErrUnsupported)
	case harness.PlainText(parts) == "":
		return false, fmt.Errorf("there is nothing said: %w", harness.ErrInvalid)
	case w.Key != "" && r.keys[w.Key]:
		return false, nil
	case r.state != Running && r.state != RunCompleted || r.ctx.Err() != nil:
		return false, harness.ErrNotRunning
	case len(r.keys) >= maxKeys:
		return false, harness.ErrQueueFull
	}
	if w.Key != "" {
		r.keys[w.Key] = true
	}
	if r.state == RunCompleted {
		r.state, r.heard = Running, false
		r.again(parts)
		return true, nil
	}
	var words []harness.Word
	select {
	case words = <-r.words:
	default:
	}
	r.words <- append(words, harness.Word{Item: harness.ItemID(w.Key), Parts: parts}) // size 1, just emptied, and nobody else sends
	return false, nil
}

func (r *run) configure(c harness.Config) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.config = c
}

func (r *run) running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state == Running
}

// done reports whether the run is over and somebody knows it.
func (r *run) done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state != Running && r.heard
}

// end is told when somebody has read the run to its end.
func (r *run) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = r.state != Running
}

func (r *run) status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Status{RequestID: r.id, Attempt: r.attempt, State: r.state}
	s.Frame, _, _, _ = r.spool.look()
	for call, q := range r.asked {
		if q.given == nil {
			s.Pending = append(s.Pending, Question{call, q.frame})
		}
	}
	for id, h := range r.tasks {
		s.Tasks = append(s.Tasks, Handed{id, h.frame, h.session})
	}
	return s
}
