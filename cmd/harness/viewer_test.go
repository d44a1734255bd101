package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness/internal/object"
)

// viewer is a client that keeps the state as any client would: the snapshot,
// and then every operation.
type viewer struct {
	*conn
	tree object.Tree
	now  seen
	seq  uint64

	states int // that came whole
}

func (p *process) view(query string) *viewer {
	p.t.Helper()
	v := &viewer{conn: p.mustDial(query)}
	v.see("the first state", func(seen) bool { return true })
	return v
}

// next reads one frame and takes it in.
func (v *viewer) next() (frame, error) {
	f, err := v.read()
	if err != nil {
		return f, err
	}
	switch f.Type {
	case "state":
		v.states++
		err = v.tree.Apply([]object.Op{{Kind: object.Set, Path: []string{}, Value: f.State}})
	case "delta":
		err = apply(&v.tree, f)
	default:
		return f, nil
	}
	if err == nil {
		v.now, v.seq = seen{}, f.Seq
		err = json.Unmarshal(v.tree.AppendJSON(nil), &v.now)
	}
	return f, err
}

// apply carries out a delta's operations.
func apply(tree *object.Tree, f frame) error {
	for _, o := range f.Operations {
		op := object.Op{Kind: object.Kind(o.Type), Path: o.Path, Value: o.Value}
		if op.Kind == object.AppendText {
			if err := json.Unmarshal(o.Value, &op.Text); err != nil {
				return err
			}
			op.Value = nil
		}
		if err := tree.Apply([]object.Op{op}); err != nil {
			return err
		}
	}
	return nil
}

// see reads until the state satisfies a condition, which it may already do.
func (v *viewer) see(what string, cond func(seen) bool) seen {
	v.t.Helper()
	for v.tree.AppendJSON(nil) == nil || string(v.tree.AppendJSON(nil)) == "null" || !cond(v.now) {
		if _, err := v.next(); err != nil {
			v.t.Fatalf("waiting for %s: %v; the state is %+v", what, err, v.now)
		}
	}
	return v.now
}

// do sends a command under an id of its own and returns its ack or error.
// format is the command without its braces.
func (v *viewer) do(format string, args ...any) frame {
	v.t.Helper()
	f, err := v.try(format, args...)
	if err != nil {
		v.t.Fatalf("waiting for the answer to %s: %v", fmt.Sprintf(format, args...), err)
	}
	return f
}

func (v *viewer) try(format string, args ...any) (frame, error) {
	id := rand.Text()
	if err := v.send(fmt.Sprintf(`{"commandId":%q,`+format+`}`, append([]any{id}, args...)...)); err != nil {
		return frame{}, err
	}
	for {
		f, err := v.next()
		if err != nil || f.CommandID == id || f.Type == "error" && f.CommandID == "" { // it could not be read at all
			return f, err
		}
	}
}

func (v *viewer) submit(prompt string) frame {
	v.t.Helper()
	return v.do(`"type":"submit","prompt":%q`, prompt)
}

// acked fails unless a command was accepted.
func acked(t testing.TB, f frame) {
	t.Helper()
	if f.Type != "ack" {
		t.Fatalf("the answer is %s %s: %s", f.Type, f.Code, f.Message)
	}
}

// said is everything the assistant said.
func said(s seen) string {
	var b strings.Builder
	for _, m := range s.Messages {
		if m.Role == "assistant" {
			b.WriteString(m.Content)
		}
	}
	return b.String()
}

// saying is a condition: the assistant said this, and the session rests.
func saying(text string) func(seen) bool {
	return func(s seen) bool { return s.Status == "idle" && strings.Contains(said(s), text) }
}

func pending(s seen) bool { return len(s.PendingApprovals) > 0 }
