package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"harness"
)

type (
	lobbyQuery struct {
		Limit int64 `json:"limit" rule:"min=1 max=1000"`
	}
	// lobbyRow is a session's row with what the session does now.
	lobbyRow struct {
		session
		Activity *activity `json:"activity,omitempty"`
	}
	goneRow struct {
		SessionID harness.SessionID `json:"session_id"`
	}
)

// streamSessions is the list of sessions and every change of it: session rows,
// ready behind the first ones, gone for one that was removed, reset where a
// client was too slow to be told each. A row is the whole of it, the newest
// that there is.
func (s *Server) streamSessions(w http.ResponseWriter, r *http.Request, p *lobbyQuery, _ *none) error {
	if err := acceptable(r, mediaEvents); err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", mediaEvents)
		return nil
	}
	ctx := r.Context()
	caller, _ := harness.CallerOf(ctx)
	if !caller.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, caller.Expires, errExpired)
		defer cancel()
	}
	place, err := s.feeds.seat(ctx)
	if err != nil {
		return err
	}
	defer place.leave()
	g, ctx, err := s.lobby.enter(ctx, caller)
	if err != nil {
		return err
	}
	defer s.lobby.leave(g)
	if caller.Life.Over() { // who closes its streams may have looked before this one was there
		return errExpired
	}
	rows, _, err := s.rows(ctx, harness.Filter{}, int(cmp.Or(p.Limit, lobbyRows)))
	if err != nil {
		return err
	}
	t := &teller{s: s, w: w, out: http.NewResponseController(w), guest: g, told: map[harness.SessionID]bool{}}
	w.Header().Set("Content-Type", mediaEvents)
	for _, sum := range rows {
		t.row(sum, activity{})
	}
	t.event("ready", struct{}{})
	t.follow(ctx)
	return nil
}

// teller writes one stream.
type teller struct {
	s     *Server
	w     http.ResponseWriter
	out   *http.ResponseController
	guest *guest
	told  map[harness.SessionID]bool // what is gone is told to who saw it
	err   error
}

// lobbyWrite is how long a client may take to take what it is told.
const lobbyWrite = 30 * time.Second

// follow tells what changes until ctx ends or the client does.
func (t *teller) follow(ctx context.Context) {
	beat := time.NewTicker(lobbyBeat)
	defer beat.Stop()
	for t.flush() {
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); err != nil && harness.AsError(err) == harness.ErrUnauthenticated {
				t.write(appendFailure(nil, err))
				t.flush()
			}
			return
		case <-beat.C:
			t.write([]byte("event: beat\ndata: {}\n\n")) // a page does not see comments
		case <-t.guest.news:
			t.news(ctx)
			select { // what changes often is told together
			case <-ctx.Done():
			case <-time.After(lobbyPace):
			}
		}
	}
}

// news tells of every session that changed.
func (t *teller) news(ctx context.Context) {
	dirty, overflow := t.guest.take()
	if overflow {
		t.event("reset", struct{}{})
		return
	}
	for id, a := range dirty {
		sum, err := t.s.glimpse(ctx, id)
		switch {
		case err == nil:
			t.row(sum, a)
		case harness.AsError(err) == harness.ErrNotFound && t.told[id]:
			delete(t.told, id)
			t.event("gone", goneRow{id})
		}
	}
}

// glimpse is the row of a session that its client may see, and has not asked for:
// a gate that takes down what callers ask for has another way to look.
func (s *Server) glimpse(ctx context.Context, id harness.SessionID) (harness.Summary, error) {
	if k, ok := s.k.(interface {
		Glimpse(context.Context, harness.SessionID) (harness.Summary, error)
	}); ok {
		return k.Glimpse(ctx, id)
	}
	return s.row(ctx, id, "")
}

func (t *teller) row(sum harness.Summary, a activity) {
	r := lobbyRow{session: asSession(sum)}
	if a.Doing != "" {
		r.Activity = &a
	}
	t.told[sum.Session] = true
	t.event("session", r)
}

func (t *teller) event(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		t.s.log.Error("a row is not told", "err", err)
		return
	}
	t.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data))
}

func (t *teller) write(b []byte) {
	if t.err == nil {
		_, t.err = t.w.Write(b)
	}
}

// flush sends what was written and reports whether the client takes it.
func (t *teller) flush() bool {
	if t.err == nil {
		_ = t.out.SetWriteDeadline(time.Now().Add(lobbyWrite)) // a recorder of a test has none
		t.err = t.out.Flush()
	}
	return t.err == nil
}
