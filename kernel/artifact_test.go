package kernel_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"harness"
	"harness/artifact"
	"harness/kernel"
)

// The content of an artifact is kept before anybody hears of it, without
// secrets, and goes with its session.
func TestAnArtifactIsKeptBeforeItIsToldOf(t *testing.T) {
	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		emit := func(a *attempt) error {
			return a.host.Emit(a.ctx, harness.NewArtifact(a.turn.Session, "tool_output", "log", []byte("a long log")))
		}
		r := with(t, &kernel.Options{Shelf: shelf}, func(a *attempt) error {
			foreign := harness.NewArtifact("ses_other", "tool_output", "log", []byte("x"))
			if err := a.host.Emit(a.ctx, foreign); !errors.Is(err, harness.ErrInvalid) {
				return fmt.Errorf("a foreign artifact: %w", err)
			}
			return emit(a)
		})
		r.submit("go")
		r.rest()
		var told *harness.Artifact
		for _, e := range r.log() {
			if p, ok := e.Payload.(*harness.Artifact); ok {
				told = p
			}
		}
		if told == nil || told.Size != 10 || told.URI != "/artifacts/"+told.ArtifactID {
			t.Fatalf("%+v", told)
		}
		f, err := shelf.Open(t.Context(), told.ArtifactID)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := r.k.Remove(t.Context(), r.id); err != nil {
			t.Fatal(err)
		}
		if _, err := shelf.Open(t.Context(), told.ArtifactID); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("after the session: %v", err)
		}
		r = with(t, nil, emit)
		r.submit("go")
		if st := r.rest(); !strings.Contains(st.Error, "nothing keeps artifacts") {
			t.Errorf("error %q", st.Error)
		}
	})
}

func TestTheContentOfAnArtifactIsKeptWithoutSecrets(t *testing.T) {
	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		var id string
		r := with(t, &kernel.Options{Redact: newRedactor(t), Shelf: shelf}, func(a *attempt) error {
			p := harness.NewArtifact(a.turn.Session, "tool_output", "log", []byte("the key is "+canary+", a long log"))
			id = p.ArtifactID
			return a.host.Emit(a.ctx, p)
		})
		r.submit("go")
		r.rest()
		f, err := shelf.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || strings.Contains(string(got), canary) || !strings.HasSuffix(string(got), ", a long log") {
			t.Errorf("kept %q, %v", got, err)
		}
	})
}
