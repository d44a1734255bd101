package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"harness"
	"harness/protocol/runner"
)

// follower is a run as the turn's engine sees it.
type follower struct {
	engine *Engine
	turn   harness.Turn
	host   harness.Host
	turned context.Context // the turn's own

	at      *lodging
	ours    bool            // the runner knows more than S2's text
	wire    context.Context // connections to the runner end with it
	hangUp  context.CancelFunc
	wg      sync.WaitGroup // everything that is started here
	order   order
	replay  uint64            // up to here it was said before this Run began
	pending []runner.Question // what was open then
	handed  []runner.Handed   // likewise
	tasks   tasks
	asking  chan struct{} // as many as there may be questions at a time
	ref     string
	spoke   bool
	fainted bool   // it was said that the runner tells little
	content []byte // of the artifact that is told of next
	words   words
	unread  []string // of a run that failed
}

// run follows the run to its end and returns when nothing of it is left here.
func (f *follower) run(ctx context.Context) error {
	f.order.run, f.ref = string(f.turn.ID), f.turn.Ref
	f.asking = make(chan struct{}, maxQuestions)
	f.wire, f.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		f.hangUp()
		f.wg.Wait()
		if f.at != nil {
			f.at.leave()
		}
	}()
	s, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { s.Close() }()
	if err := f.catchUp(f.wire); err != nil {
		f.abort()
		return err
	}
	f.listen()
	defer f.unlisten()
	for {
		frame, err := s.Next()
		switch {
		case err == nil:
			switch next, err := f.heed(&frame); {
			case err != nil || next == ended:
				return err
			case next == more:
				continue
			}
		case f.wire.Err() != nil:
			return retryable("the run was given up", nil)
		case broken(err):
			f.abort()
			return err
		case !f.order.numbered:
			return retryable("the runner's stream ended before the run did", nil)
		}
		again, err := f.back()
		if err != nil {
			return err
		}
		s.Close()
		s = again
	}
}

// What comes after an event.
type next int

const (
	more   next = iota // another
	ended              // nothing
	reopen             // another, on another connection
)

// heed sees to one event. If that fails, the run is ended, unless the session
// has gone and will be back.
func (f *follower) heed(frame *runner.Frame) (next, error) {
	if !f.ours {
		frame.ID = 0 // whatever it numbers, it does not know how to go on behind it
	}
	over, err := f.take(frame)
	switch {
	case errors.Is(err, errLeft):
		return ended, err
	case err != nil:
		f.abort()
		return ended, err
	case !over:
		return more, nil
	}
	again, err := f.late(frame)
	if again {
		return reopen, nil
	}
	return ended, err
}

// errLeft says that the session does not want to hear more.
var errLeft = errors.New("the session is gone")

// open begins the run, or finds it.
func (f *follower) open(ctx context.Context) (s *runner.Stream, err error) {
	if f.turn.Attached > 0 {
		if f.at, err = f.engine.home.find(f.turn); err != nil {
			return nil, retryable("the runner is gone", err)
		}
		look, cancel := context.WithTimeout(f.wire, lookPatience)
		defer cancel()
		st, err := f.at.client.Status(look, f.order.run)
		if err != nil {
			return nil, retryable("the run is gone", err)
		}
		if h, err := f.at.client.Health(look); err == nil {
			f.engine.learn(h)
		}
		f.replay, f.pending, f.handed, f.ours = st.Frame, st.Pending, st.Tasks, true
		f.wg.Go(f.guard)
		return f.at.client.Attach(f.wire, f.order.run, 0)
	}
	patience, cancel := context.WithTimeout(ctx, busyPatience)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if f.at, err = f.engine.home.take(ctx, f.turn); err != nil {
			return nil, err
		}
		if s, err = f.begin(ctx); !errors.Is(err, errTaken) {
			return s, err
		}
		f.hangUp()
		f.wg.Wait()
		f.at.leave()
		f.wire, f.hangUp = context.WithCancel(context.WithoutCancel(ctx))
		if wait(patience, pause) != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("all runners do something else: %w: %w", harness.ErrBusy, harness.ErrRetry)
		}
	}
}

// errTaken says that somebody else was faster at a runner, and that another one
// would do.
var errTaken = errors.New("the runner was taken")

// movable reports whether another runner would do.
func (f *follower) movable() bool {
	p, ok := f.engine.home.(*pool)
	return ok && p.same && len(p.runners) > 1
}

// faint is said once in a session of a runner that knows only S2.
var faint = &harness.TransportDiagnostic{
	Status: "degraded", Kind: "low_fidelity",
	Reason: "the runner tells that calls begin and not how they end, asks nobody before it acts, does not say what it uses, and heeds no settings",
}

// begin starts the run, when the runner is free for it.
func (f *follower) begin(ctx context.Context) (*runner.Stream, error) {
	h, err := f.at.client.Health(ctx)
	switch {
	case err != nil && (broken(err) || runner.Refused(err, http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden)):
		return nil, fmt.Errorf("there is no runner for us: %w", err)
	case err != nil:
		return nil, retryable("the runner cannot be reached", err)
	case !h.OK:
		return nil, retryable("the runner says that it is not well", nil)
	}
	f.engine.learn(h)
	f.ours = h.Abilities != nil
	if !f.ours && f.turn.Ref == "" && !f.fainted {
		f.fainted = true
		if err := f.told(f.host.Emit(f.turned, faint)); err != nil {
			return nil, err
		}
	}
	q, err := f.query(ctx)
	if err != nil {
		return nil, err
	}
	f.wg.Go(f.guard)
	patience, cancel := context.WithTimeout(ctx, busyPatience)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		s, err := f.at.client.Query(f.wire, q)
		switch {
		case err == nil:
			return s, nil
		case broken(err):
			return nil, err
		case !runner.Refused(err, http.StatusConflict):
			return nil, retryable("the runner did not take the turn", err)
		}
		if f.movable() {
			return nil, errTaken
		}
		if wait(patience, pause) != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("the runner does something else: %w: %w", harness.ErrBusy, harness.ErrRetry)
		}
	}
}

// maxHistory is how much of the log goes along. An engine that reads it needs
// the latest; one that needs more is told that there is more.
const maxHistory = 32 << 20

// query is the turn as a runner is asked to do it.
func (f *follower) query(ctx context.Context) (runner.Query, error) {
	t := f.turn
	q := runner.Query{
		Prompt: cmp.Or(harness.PlainText(t.Parts), "."), Resume: t.Ref, RequestID: string(t.ID), SessionID: t.Session, Kind: t.Kind, Attempt: t.Attempt,
		Fresh: t.Fresh, Directory: f.at.directory, Config: &t.Config, Parts: t.Parts, Began: t.Began, Final: t.Final, Kept: f.engine.keepsFiles(),
	}
	if !f.ours {
		return runner.Query{Prompt: q.Prompt, Resume: q.Resume}, nil
	}
	_, spawns := f.host.(harness.Spawner)
	q.Tasks = spawns && f.at.alone
	size := 0
	for e, err := range f.host.History(ctx, 0) {
		if err != nil {
			return q, fmt.Errorf("read the history: %w", err)
		}
		raw := json.RawMessage(e.JSON())
		q.History, size = append(q.History, raw), size+len(raw)
		for ; size > maxHistory; q.History = q.History[1:] {
			size -= len(q.History[0])
		}
	}
	return q, nil
}

// back follows the run again where the connection broke.
func (f *follower) back() (*runner.Stream, error) {
	patience, cancel := context.WithTimeout(f.wire, lostPatience)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		s, err := f.at.client.Attach(f.wire, f.order.run, f.order.last)
		switch {
		case err == nil:
			return s, nil
		case broken(err):
			f.abort()
			return nil, err
		case runner.Refused(err, http.StatusNotFound):
			return nil, retryable("the runner has forgotten the run", nil)
		case f.at.gone():
			return nil, retryable("the runner died, and the agent with it", nil)
		}
		if wait(patience, pause) != nil {
			return nil, retryable("the runner cannot be reached any more", err)
		}
	}
}

// take sees to one event, and reports whether it is the last.
func (f *follower) take(frame *runner.Frame) (over bool, err error) {
	if err := f.order.check(frame); err != nil {
		return false, err
	}
	switch frame.Type {
	case runner.Started:
		return false, nil
	case runner.Asked:
		if frame.ID > f.replay || slices.Contains(f.pending, runner.Question{ToolUseID: frame.ToolUseID, Frame: frame.ID}) {
			return false, f.ask(frame)
		}
		return false, nil
	case runner.TaskAsked, runner.TaskDropped:
		return false, f.task(frame)
	case runner.Checkpoint:
		f.ref = frame.Ref
		if !f.order.numbered {
			return false, f.told(f.host.Checkpoint(f.turned, frame.Ref))
		}
		return false, f.tell(frame.ID, &harness.SessionCheckpoint{
			SessionID: f.turn.Session, CheckpointType: "engine", Status: "saved", EngineRef: frame.Ref,
		})
	case runner.Content:
		f.content = append(f.content, frame.Content...)
		if len(f.content) > harness.MaxArtifact {
			return false, f.order.fault("an artifact is larger than %d bytes", harness.MaxArtifact)
		}
		return false, nil
	case runner.Completed, runner.Failed, runner.Cancelled:
		return frame.ID >= f.replay, nil // a run that was told something goes on behind its end
	case runner.Delta:
		f.spoke = f.spoke || frame.Text != ""
	}
	p := frame.Fact()
	if p == nil {
		return false, nil
	}
	if a, ok := p.(*harness.Artifact); ok {
		a.Content, f.content = f.content, nil
	}
	return false, f.tell(frame.ID, p)
}

// tell reports a fact to the session, also when the turn was told to end: the
// run says how it did.
func (f *follower) tell(frame uint64, p harness.Payload) error {
	if frame == 0 {
		return f.told(f.host.Emit(f.wire, p))
	}
	return f.told(f.host.Follow(f.wire, frame, p))
}

// told is what an answer of the session means for the run. A turn that was told
// to end is followed on, to see its run end.
func (f *follower) told(err error) error {
	switch {
	case err == nil || f.turned.Err() != nil:
		return nil
	case errors.Is(err, harness.ErrInvalid):
		return f.order.fault("%v", err)
	case errors.Is(err, harness.ErrUnsupported): // nobody keeps artifacts here
		return nil
	case errors.Is(err, harness.ErrUnavailable) || errors.Is(err, harness.ErrNotRunning):
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return err
}

// end is how the run ended.
func (f *follower) end(frame *runner.Frame) error {
	switch frame.Type {
	case runner.Failed:
		f.unread = frame.Unread
		if frame.Retryable {
			return fmt.Errorf("%s: %w", message(frame.Message), harness.ErrRetry)
		}
		return errors.New(message(frame.Message))
	case runner.Cancelled:
		return errors.New("the runner cancelled the run")
	}
	var result string
	if json.Unmarshal(frame.Result, &result) == nil && result != "" && !f.spoke {
		if err := f.tell(frame.ID, &harness.Token{Text: result}); err != nil {
			return err
		}
	}
	if ref := frame.SessionID; ref != "" && ref != f.ref && len(ref) <= maxMessage {
		return f.told(f.host.Checkpoint(f.turned, ref))
	}
	return nil
}

// guard ends the run when the turn is told to end, unless it is only the server
// that goes.
func (f *follower) guard() {
	select {
	case <-f.wire.Done():
		return
	case <-f.turned.Done():
	}
	if errors.Is(context.Cause(f.turned), harness.ErrShutdown) {
		f.hangUp()
		return
	}
	patience, cancel := context.WithTimeout(f.wire, cancelPatience)
	defer cancel()
	if f.ours && f.at.client.Cancel(patience, f.order.run, runner.Cancelling{Held: errors.Is(context.Cause(f.turned), harness.ErrHeld)}) == nil {
		<-patience.Done()
	}
	if f.wire.Err() == nil { // it has not ended
		f.abort()
	}
}

// abort ends a run that will not end, and the connection to it, which is all
// that a runner of S2's text needs to hear.
func (f *follower) abort() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.turned), cancelPatience)
	defer cancel()
	if f.at.kill != nil {
		_ = f.at.kill(ctx) // the turn ends anyway; custody knows what is left
	} else if f.ours {
		_ = f.at.client.Cancel(ctx, f.order.run, runner.Cancelling{})
	}
	f.hangUp()
}

// ask puts a question to the session and posts the answer.
func (f *follower) ask(frame *runner.Frame) error {
	select {
	case f.asking <- struct{}{}:
	default:
		return f.order.fault("more than %d questions wait", maxQuestions)
	}
	use := harness.ToolUse{
		Call: frame.ToolUseID, Tool: frame.ToolName, Access: frame.Access, Input: frame.Input, Description: frame.Description, Reason: frame.Reason,
	}
	f.wg.Go(func() {
		defer func() { <-f.asking }()
		ctx, cancel := context.WithCancelCause(f.turned)
		defer context.AfterFunc(f.wire, func() { cancel(errLeft) })()
		defer cancel(nil)
		d, err := f.host.Ask(ctx, use)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			f.answer(use.Call, runner.Answer{Decision: d})
		case errors.Is(err, harness.ErrInvalid):
			f.answer(use.Call, runner.Answer{Error: &runner.Problem{Code: harness.ErrInvalid.Code, Message: err.Error()}})
		}
	})
	return nil
}

// answer posts a decision until the runner has it, or knows better.
func (f *follower) answer(call harness.CallID, a runner.Answer) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := f.at.client.Decide(f.wire, f.order.run, call, a)
		if _, refused := errors.AsType[*runner.StatusError](err); err == nil || refused || wait(f.wire, pause) != nil {
			return
		}
	}
}
