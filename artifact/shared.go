package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"

	"harness"
)

// Shared keeps artifacts in a depot, for every process that shares it. They go
// with their sessions.
type Shared struct {
	depot  harness.Depot
	before *Shelf // what was kept before it was shared; nil: nothing
}

var _ harness.Shelf = Shared{}

// In keeps artifacts in a depot. What is not there is looked for in the directory
// that had them before; nil: there was none.
func In(d harness.Depot, before *Shelf) Shared { return Shared{d, before} }

func place(id harness.SessionID) string { return "artifacts/" + string(id) }

// Put delivers content that is not there.
func (s Shared) Put(ctx context.Context, id string, content []byte) error {
	session, name, err := harness.ParseArtifactID(id)
	if err != nil {
		return err
	}
	if len(content) > harness.MaxArtifact {
		return fmt.Errorf("artifact of %d bytes, more than %d: %w", len(content), harness.MaxArtifact, harness.ErrTooLarge)
	}
	if f, err := s.depot.Fetch(ctx, place(session), name); err == nil {
		return f.Close()
	}
	_, err = s.depot.Deliver(ctx, harness.Delivery{
		Place: place(session), At: harness.AnyVersion, Add: []harness.Parcel{{Name: name, Session: session, Content: content}},
	})
	return err
}

// Open reads an artifact.
func (s Shared) Open(ctx context.Context, id string) (io.ReadSeekCloser, error) {
	session, name, err := harness.ParseArtifactID(id)
	if err != nil {
		return nil, err
	}
	f, err := s.depot.Fetch(ctx, place(session), name)
	if errors.Is(err, harness.ErrNotFound) && s.before != nil {
		return s.before.Open(ctx, id)
	}
	if errors.Is(err, harness.ErrNotFound) {
		return nil, fmt.Errorf("the content of artifact %s is not kept here: %w", id, harness.ErrNotFound)
	}
	return f, err
}

// Forget removes a session's place.
func (s Shared) Forget(ctx context.Context, id harness.SessionID) error {
	if _, err := harness.ParseSessionID(string(id)); err != nil {
		return err
	}
	if s.before != nil {
		if err := s.before.Forget(ctx, id); err != nil {
			return err
		}
	}
	p, err := s.depot.Place(ctx, place(id), 0)
	if err != nil || len(p.Files) == 0 {
		return err
	}
	d := harness.Delivery{Place: place(id), At: harness.AnyVersion}
	for _, f := range p.Files {
		d.Remove = append(d.Remove, f.Name)
	}
	_, err = s.depot.Deliver(ctx, d)
	return err
}
