package kernel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync/atomic"

	"harness"
)

// host is a session as the engine that runs its turn sees it.
type host struct {
	s      *session
	turn   harness.TurnID
	done   <-chan struct{} // the run is over, or was given up
	leave  func()          // says so
	words  chan []harness.Word
	config atomic.Pointer[harness.Config]
	clean  *cleaner
}

var _ harness.Host = (*host)(nil)

// Emit hands on a copy without secrets, made by the engine's goroutine: what the
// engine does with p afterwards, or what is wrong with p, is no trouble for the
// session.
func (h *host) Emit(ctx context.Context, p harness.Payload) error { return h.take(ctx, 0, p) }

func (h *host) Follow(ctx context.Context, frame uint64, p harness.Payload) error {
	if frame == 0 {
		return fmt.Errorf("frames count from 1: %w", harness.ErrInvalid)
	}
	return h.take(ctx, frame, p)
}

func (h *host) take(ctx context.Context, frame uint64, p harness.Payload) error {
	if p == nil {
		return fmt.Errorf("an engine may not emit nothing: %w", harness.ErrInvalid)
	}
	if a, ok := p.(*harness.Artifact); ok && a.Content != nil {
		kept, err := h.keep(ctx, *a)
		if err != nil {
			return err
		}
		p = kept
	}
	p, err := h.clean.copy(p)
	if err != nil {
		return err
	}
	if harness.Reserved(p) {
		return fmt.Errorf("an engine may not emit %s: %w", p.Type(), harness.ErrInvalid)
	}
	before, now := h.clean.take(frame, p)
	if err := h.report(ctx, before); err != nil {
		return err
	}
	if now.payload == nil { // it waits for what follows, or is known
		return h.over(ctx)
	}
	return h.send(ctx, h.s.reports, emitted{h.turn, now})
}

// keep puts an artifact's content on the shelf, without secrets.
func (h *host) keep(ctx context.Context, a harness.Artifact) (*harness.Artifact, error) {
	shelf := h.s.k.opts.Shelf
	if shelf == nil {
		return nil, fmt.Errorf("nothing keeps artifacts: %w", harness.ErrUnsupported)
	}
	if id, _, err := harness.ParseArtifactID(a.ArtifactID); err != nil || id != h.s.id {
		return nil, fmt.Errorf("artifact %q is not one of this session: %w", a.ArtifactID, harness.ErrInvalid)
	}
	a.Content = h.clean.bytes(a.Content)
	a.Fill()
	if err := shelf.Put(ctx, a.ArtifactID, a.Content); err != nil {
		return nil, err
	}
	a.Content = nil
	return &a, nil
}

// report hands on what was held back.
func (h *host) report(ctx context.Context, all []report) error {
	for _, r := range all {
		if err := h.send(ctx, h.s.reports, emitted{h.turn, r}); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) History(ctx context.Context, after harness.Seq) iter.Seq2[harness.Event, error] {
	return h.s.k.Read(ctx, h.s.id, after)
}

func (h *host) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	if len(u.Input) > 0 && !json.Valid(u.Input) {
		return harness.Decision{}, fmt.Errorf("ask about call %q: the input is not JSON: %w", u.Call, harness.ErrInvalid)
	}
	u.Input = bytes.Clone(u.Input)
	shown := h.clean.use(u)
	u.Call = shown.Call // that is how the log names it
	var real *harness.ToolUse
	if u.Tool != shown.Tool || !bytes.Equal(u.Input, shown.Input) {
		real = &u
	}
	if err := h.report(ctx, h.clean.flush()); err != nil {
		return harness.Decision{}, err
	}
	answer := make(chan decide, 1) // so that the session never waits for the engine
	if err := h.send(ctx, h.s.reports, asked{answer, h.turn, shown, real}); err != nil {
		return harness.Decision{}, err
	}
	d, err := await(ctx, h.s, answer)
	if err != nil {
		return harness.Decision{}, err
	}
	return d.decision, d.err
}

// keepFiles returns when the turn may change files, or have others do it.
func (h *host) keepFiles(ctx context.Context) error {
	answer := make(chan decide, 1) // so that the session never waits for the engine
	if err := h.send(ctx, h.s.reports, delegated{answer, h.turn}); err != nil {
		return err
	}
	d, err := await(ctx, h.s, answer)
	return cmp.Or(err, d.err)
}

func (h *host) Checkpoint(ctx context.Context, ref string) error {
	if err := h.clean.ref(ref); err != nil {
		return err
	}
	if err := h.report(ctx, h.clean.flush()); err != nil { // the next attempt does not say it again
		return err
	}
	answer := make(chan reply, 1) // so that the session never waits for the engine
	if err := h.send(ctx, h.s.reports, checkpointed{answer, h.turn, ref}); err != nil {
		return err
	}
	r, err := await(ctx, h.s, answer)
	return cmp.Or(err, r.err)
}

// await returns what the session answers, unless the run or the session is over.
func await[T any](ctx context.Context, s *session, answer <-chan T) (T, error) {
	var none T
	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-s.done:
		return none, harness.ErrUnavailable
	}
}

func (h *host) Steering() <-chan []harness.Word { return h.words }

func (h *host) Config() harness.Config { return *h.config.Load() }

// send hands an input to the session, or gives up when the run is over.
func (h *host) send(ctx context.Context, to chan<- input, in input) error {
	if err := h.over(ctx); err != nil {
		return err
	}
	select {
	case to <- in:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.done:
		return harness.ErrNotRunning
	case <-h.s.done:
		return harness.ErrUnavailable
	}
}

// over is why nothing can be sent any more, if so.
func (h *host) over(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.done:
		return harness.ErrNotRunning
	case <-h.s.done:
		return harness.ErrUnavailable
	default:
		return nil
	}
}

// last hands on what is held back when the engine has returned, also if it was
// told to.
func (h *host) last() {
	for _, r := range h.clean.flush() {
		select {
		case h.s.reports <- emitted{h.turn, r}:
		case <-h.s.done: // the session gave up waiting
		}
	}
}

// say passes a word on without ever waiting: what the engine has not taken yet
// comes with it. Only the session's goroutine calls it.
func (h *host) say(w harness.Word) {
	var words []harness.Word
	select {
	case words = <-h.words:
	default:
	}
	h.words <- append(words, w) // size 1, just emptied, and nobody else sends
}

// unread is what the engine never took.
func (h *host) unread() []harness.Word {
	select {
	case words := <-h.words:
		return words
	default:
		return nil
	}
}
