package rest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

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

type (
	importQuery struct {
		From      string `json:"from" rule:"words=claude|codex"` // whose transcript it is; none: an archive
		UserID    string `json:"user_id" rule:"max=128"`         // of a transcript: whose session it is to be
		Directory string `json:"directory" rule:"max=4096"`      // of a transcript: where it is to work, in place of where it did
	}
	// imported is a session that was taken in, and what of a transcript was not.
	imported struct {
		session
		Lost []loss `json:"lost,omitempty"`
	}
	loss struct {
		Kind  string `json:"kind"`
		Count int    `json:"count"`
	}
)

// importSession takes an archive in, or a transcript. Under an Idempotency-Key a
// session that is already there, event for event, is the answer; else it is
// refused.
func (s *Server) importSession(w http.ResponseWriter, r *http.Request, q *importQuery, _ *none) error {
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
	if r.ContentLength > s.opts.MaxImport {
		return tooBig(s.opts.MaxImport) // before it is sent, if the client waits for that
	}
	ctx := r.Context()
	select {
	case s.importing <- struct{}{}:
		defer func() { <-s.importing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	events, lost, err := s.readImport(w, r, q)
	if err != nil {
		return err
	}
	got, err := s.opts.Import(ctx, events)
	if err != nil {
		return err
	}
	s.feeds.look(got.Session) // who follows it hears what is new
	s.lobby.changed(got.Session, activity{})
	if got.New == 0 && key == "" {
		return fmt.Errorf("session %s: %w", got.Session, harness.ErrExists)
	}
	sum, err := s.row(ctx, got.Session, "")
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, imported{asSession(sum), lost})
}

// readImport reads all of an archive or of a transcript.
func (s *Server) readImport(w http.ResponseWriter, r *http.Request, q *importQuery) (events []harness.Event, lost []loss, err error) {
	if q.From == "" {
		if q.UserID+q.Directory != "" {
			return nil, nil, badField("from", "user_id and directory are for transcripts")
		}
		events, err = s.readArchive(w, r)
		return events, nil, err
	}
	read := s.opts.Transcripts[q.From]
	if read == nil {
		return nil, nil, harness.ErrUnsupported
	}
	done := deadline(w, importFor)
	body := http.MaxBytesReader(w, r.Body, s.opts.MaxImport)
	got, err := read(body, q.UserID, q.Directory)
	if err != nil {
		if _, more := body.Read(make([]byte, 1)); more != nil && more != io.EOF {
			return nil, nil, unread(more, s.opts.MaxImport)
		}
		return nil, nil, fault(http.StatusBadRequest, harness.AsError(err).Code, "the transcript cannot be read", err.Error())
	}
	done()
	for _, kind := range slices.Sorted(maps.Keys(got.Lost)) {
		lost = append(lost, loss{kind, got.Lost[kind]})
	}
	return got.Events, lost, nil
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
