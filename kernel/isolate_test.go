package kernel_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

// rooms makes workspaces that are only names.
type rooms struct {
	names []harness.SessionID
	full  bool // it makes no more
}

func (r *rooms) Create(_ context.Context, id harness.SessionID, source string) (string, *harness.Artifact, error) {
	switch {
	case slices.Contains(r.names, id):
		return "", nil, harness.ErrExists
	case r.full:
		return "", nil, harness.ErrTooLarge
	}
	r.names = append(r.names, id)
	return source + "/" + string(id), harness.NewArtifact(id, harness.WorkspaceArtifact, "a room", []byte(`{}`)), nil
}

func (r *rooms) Remove(_ context.Context, id harness.SessionID) error {
	r.names = slices.DeleteFunc(r.names, func(n harness.SessionID) bool { return n == id })
	return nil
}

// An isolated session has its place from its first event on, which an artifact
// describes. No session, no place: neither if it was not stored nor once it is
// removed.
func TestAnIsolatedSessionHasAPlaceAsLongAsItIsThere(t *testing.T) {
	t.Parallel()
	all := new(rooms)
	var fault faulty.Fault
	st := faulty.Wrap(memory.New(), func(op faulty.Op) (f faulty.Fault) {
		if op.Method == faulty.Append {
			f = fault
		}
		return f
	})
	k := kernel.New(st, nil, &kernel.Options{Tasks: all, Directory: "/src"})
	t.Cleanup(func() { k.Close() })
	id, err := k.Create(t.Context(), harness.NewSession{Isolated: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	state, err := k.At(t.Context(), id, 0)
	if err != nil || state.Directory != "/src/"+string(id) {
		t.Fatalf("it works in %q, %v", state.Directory, err)
	}
	var kinds []harness.Type
	for e, err := range k.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Type())
	}
	if want := []harness.Type{"session_state", "sandbox_notice", "artifact"}; !slices.Equal(kinds, want) {
		t.Errorf("the log has %q, want %q", kinds, want)
	}
	if _, err := k.Create(t.Context(), harness.NewSession{ID: id, Isolated: new(true)}); !errors.Is(err, harness.ErrExists) {
		t.Errorf("again: %v", err)
	}
	if err := k.Remove(t.Context(), id); err != nil || len(all.names) != 0 {
		t.Errorf("removed: %v, and there are %q", err, all.names)
	}
	fault.Before = harness.ErrConflict
	if _, err := k.Create(t.Context(), harness.NewSession{Isolated: new(true)}); err == nil || len(all.names) != 0 {
		t.Errorf("not stored: %v, and there are %q", err, all.names)
	}
	fault = faulty.Fault{After: harness.ErrStorage}
	if _, err := k.Create(t.Context(), harness.NewSession{Isolated: new(true)}); err == nil || len(all.names) != 1 {
		t.Errorf("nobody knows whether it is stored: %v, and there are %q", err, all.names)
	}
	bare := kernel.New(memory.New(), nil, nil)
	t.Cleanup(func() { bare.Close() })
	for _, k := range []*kernel.Kernel{bare, kernel.New(memory.New(), nil, &kernel.Options{Tasks: all})} {
		if _, err := k.Create(t.Context(), harness.NewSession{Isolated: new(true)}); !errors.Is(err, harness.ErrUnsupported) && !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("made of nothing: %v", err)
		}
		k.Close()
	}
}

// A session that works by itself works in a place of its own, unless it is told
// not to; if none can be made of its directory, it works there and says so.
func TestASessionThatWorksByItselfHasAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	all := new(rooms)
	k := kernel.New(memory.New(), nil, &kernel.Options{Tasks: all, Directory: "/src"})
	t.Cleanup(func() { k.Close() })
	for _, c := range []struct {
		what  string
		n     harness.NewSession
		full  bool
		apart bool
		says  string // as the session's sandbox mode
	}{
		{"background", harness.NewSession{Kind: harness.Background}, false, true, "task_workspace"},
		{"told to", harness.NewSession{Isolated: new(true)}, false, true, "task_workspace"},
		{"told not to", harness.NewSession{Kind: harness.Background, Isolated: new(false)}, false, false, ""},
		{"a chat", harness.NewSession{}, false, false, ""},
		{"no room", harness.NewSession{Kind: harness.Background}, true, false, "directory"},
	} {
		all.full = c.full
		id, err := k.Create(t.Context(), c.n)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		st, err := k.At(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		if apart := st.Directory != "/src"; apart != c.apart || st.Course.SandboxMode != c.says {
			t.Errorf("%s: it works in %q, and says %q", c.what, st.Directory, st.Course.SandboxMode)
		}
	}
	all.full = true
	if _, err := k.Create(t.Context(), harness.NewSession{Isolated: new(true)}); !errors.Is(err, harness.ErrTooLarge) {
		t.Errorf("told to, and there is no room: %v", err)
	}
}
