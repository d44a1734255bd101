package kernel

import (
	"fmt"

	"harness"
)

// Redactor takes secrets out of texts before the machine sees them, so that the
// log, the state, snapshots and everything made of them never had any. It may be
// used concurrently. A text without secrets is returned as it is.
type Redactor interface {
	// String is s without secrets: values that are known, and what looks like
	// one.
	String(s string) string
	// JSON is a JSON text without secrets, which still is one.
	JSON(text []byte) []byte
	// Known is s without values that are known.
	Known(s string) string
	// Stream begins a text that comes in parts.
	Stream() TextStream
}

// TextStream redacts a text that comes in parts, for one goroutine at a time.
type TextStream interface {
	// Text is what can be shown after another part. What may be the beginning
	// of a secret is held back until it is clear, within bounds.
	Text(part string) string
	// Flush is what is held back and has to be shown now. The stream remembers
	// it: if it was the beginning of a secret, the rest is still taken out.
	Flush() string
	// Held is how many bytes, at the end of what came, were not shown yet.
	Held() int
}

// heard is a command as it is kept. What people say is theirs and stays as it
// is, also if it looks like a key; only values that are known are not kept, and
// no engine gets them.
func (k *Kernel) heard(cmd harness.Command) harness.Command {
	r := k.opts.Redact
	if r == nil {
		return cmd
	}
	switch c := cmd.(type) {
	case harness.Submit:
		c.Parts, c.ClientKey, c.Actor = knownParts(r, c.Parts), r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	case harness.Steer:
		c.Parts, c.ClientKey, c.Actor = knownParts(r, c.Parts), r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	case harness.Cancel:
		c.ClientKey, c.Actor = r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	case harness.Answer:
		c.Decision.Reason, c.Decision.Actor = r.Known(c.Decision.Reason), r.Known(c.Decision.Actor)
		return c
	case harness.Configure:
		c.Title, c.Patch, c.ClientKey, c.Actor = known(r, c.Title), knownPatch(r, c.Patch), r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	case harness.Rewind:
		c.ClientKey, c.Actor = r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	case harness.Pause:
		c.ClientKey, c.Actor = r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	case harness.Resume:
		c.ClientKey, c.Actor = r.Known(c.ClientKey), r.Known(c.Actor)
		return c
	}
	return cmd
}

// heardNew is a new session as it is kept. A name that holds a secret cannot be
// kept as another name, so it is refused.
func (k *Kernel) heardNew(n harness.NewSession) (harness.NewSession, error) {
	r := k.opts.Redact
	if r == nil {
		return n, nil
	}
	for what, name := range map[string]string{"id": string(n.ID), "user": n.User, "engine": n.Engine, "directory": n.Directory} {
		if r.Known(name) != name {
			return n, fmt.Errorf("the %s of the session holds a secret: %w", what, harness.ErrInvalid)
		}
	}
	n.Title, n.Config = r.Known(n.Title), knownPatch(r, n.Config)
	n.Prompt, n.Actor = knownParts(r, n.Prompt), r.Known(n.Actor)
	return n, nil
}

// knownParts are parts without known values; the caller's own if they have none.
func knownParts(r Redactor, parts []harness.Part) []harness.Part {
	var clean []harness.Part
	for i, p := range parts {
		c := p
		c.Text, c.Path, c.URL, c.MediaType = r.Known(p.Text), r.Known(p.Path), r.Known(p.URL), r.Known(p.MediaType)
		if c == p {
			continue
		}
		if clean == nil {
			clean = append(clean, parts...)
		}
		clean[i] = c
	}
	if clean == nil {
		return parts
	}
	return clean
}

func knownPatch(r Redactor, p harness.ConfigPatch) harness.ConfigPatch {
	p.Model, p.SystemPrompt, p.Agent = known(r, p.Model), known(r, p.SystemPrompt), known(r, p.Agent)
	return p
}

func known(r Redactor, s *string) *string {
	if s == nil {
		return nil
	}
	if clean := r.Known(*s); clean != *s {
		return &clean
	}
	return s
}
