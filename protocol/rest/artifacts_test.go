package rest_test

import (
	"bytes"
	"testing"

	"harness"
	"harness/artifact"
	"harness/protocol/rest"
	"harness/store/memory"
)

// The content of an artifact is served as bytes that no browser runs, to those
// who may see its session, until the session is gone.
func TestArtifactsAreServedAsBytes(t *testing.T) {
	t.Parallel()
	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := serveOn(t, memory.New(), "say hi", &rest.Options{Shelf: shelf})
	id := s.chat()
	content := []byte("<script>alert(1)</script>" + string(bytes.Repeat([]byte("x"), 1<<20)))
	a := harness.NewArtifact(harness.SessionID(id), "tool_output", "a page", content)
	s.refused(404, "not_found", "", "GET", a.URI, "")
	if err := shelf.Put(t.Context(), a.ArtifactID, content); err != nil {
		t.Fatal(err)
	}
	got := s.must(200, nil, "GET", a.URI, "")
	if !bytes.Equal(got.body, content) {
		t.Errorf("%d bytes, want %d", len(got.body), len(content))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
	} {
		if got := got.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	other := harness.NewArtifact("ses_nobody", "tool_output", "", content)
	if err := shelf.Put(t.Context(), other.ArtifactID, content); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{other.ArtifactID, "art_", "art_x", "art_..", "art_" + id + ".zzz", "art_%2e%2e%2fx", a.ArtifactID + "0", "nothing"} {
		s.refused(404, "not_found", "", "GET", "/artifacts/"+bad, "")
	}
	s.refused(406, "not_acceptable", "", "GET", a.URI, "", "Accept", "image/png")
	s.refused(400, "invalid", "artifact_id", "GET", "/artifacts/"+string(bytes.Repeat([]byte("a"), 300)), "")
}
