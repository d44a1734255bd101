package rest

import (
	"fmt"
	"io"
	"net/http"

	"harness"
	"harness/archive"
)

// export writes the session's log. What fails in the middle cuts the
// connection, and the archive lacks its seal.
func (s *Server) export(w http.ResponseWriter, r *http.Request, p *onSession, _ *none) error {
	if err := acceptable(r, mediaLines); err != nil {
		return err
	}
	if _, err := s.row(r.Context(), p.ID, ""); err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaLines)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", string(p.ID)+".jsonl"))
	if r.Method == http.MethodHead {
		return nil
	}
	defer patient(w)()
	if err := archive.Write(rolling{w}, s.k.Read(r.Context(), p.ID, 0)); err != nil {
		if r.Context().Err() == nil {
			s.log.Error("export ended in the middle", "session", p.ID, "err", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

// importSession takes an archive in. Under an Idempotency-Key a session that is
// already there, event for event, is the answer; else it is refused.
func (s *Server) importSession(w http.ResponseWriter, r *http.Request, _ *none, _ *none) error {
	if err := acceptable(r, mediaJSON); err != nil {
		return err
	}
	if err := mediaIs(r, mediaLines, "application/x-ndjson"); err != nil {
		return err
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	if s.opts.Import == nil {
		return harness.ErrUnsupported
	}
	ctx := r.Context()
	select {
	case s.importing <- struct{}{}:
		defer func() { <-s.importing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	events, err := s.readArchive(w, r)
	if err != nil {
		return err
	}
	got, err := s.opts.Import(ctx, events)
	if err != nil {
		return err
	}
	s.feeds.look(got.Session) // who follows it hears what is new
	if got.New == 0 && key == "" {
		return fmt.Errorf("session %s: %w", got.Session, harness.ErrExists)
	}
	sum, err := s.row(ctx, got.Session, "")
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, asSession(sum))
}

// readArchive reads a whole archive and checks its seal.
func (s *Server) readArchive(w http.ResponseWriter, r *http.Request) ([]harness.Event, error) {
	done := deadline(w, importFor)
	var events []harness.Event
	body := http.MaxBytesReader(w, r.Body, s.opts.MaxImport)
	for e, err := range archive.Read(body) {
		if err == nil {
			events = append(events, e)
			continue
		}
		if _, more := body.Read(make([]byte, 1)); more != nil && more != io.EOF { // what came before it looks cut
			return nil, unread(more, s.opts.MaxImport)
		}
		return nil, damaged(err)
	}
	done()
	return events, nil
}

// damaged says what is wrong with the client's own file.
func damaged(err error) error {
	return fault(http.StatusBadRequest, harness.ErrCorrupt.Code, "the archive is damaged", err.Error())
}
