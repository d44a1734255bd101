package rest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"harness"
)

const mediaBytes = "application/octet-stream"

type onArtifact struct {
	ID string `json:"artifact_id" rule:"required max=256"`
}

// artifact is the content of an artifact, for whoever may see its session. An
// agent made it, so no browser is to show it, or anything in it, as a page of
// ours.
func (s *Server) artifact(w http.ResponseWriter, r *http.Request, p *onArtifact, _ *none) error {
	if err := acceptable(r, mediaBytes); err != nil {
		return err
	}
	id, name, err := harness.ParseArtifactID(p.ID)
	if err != nil {
		return err
	}
	if _, err := s.row(r.Context(), id, ""); err != nil {
		return fmt.Errorf("artifact %q: %w", p.ID, err)
	}
	if s.opts.Shelf == nil {
		return fmt.Errorf("this server keeps no content of artifacts: %w", harness.ErrNotFound)
	}
	content, err := s.opts.Shelf.Open(r.Context(), p.ID)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	h := w.Header()
	h.Set("Content-Type", mediaBytes)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	size, err := content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	if r.Method == http.MethodHead {
		return nil
	}
	defer patient(w)()
	if _, err := io.Copy(rolling{w}, content); err != nil {
		panic(http.ErrAbortHandler) // it is not whole, and nobody is to think so
	}
	return nil
}
