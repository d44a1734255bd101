package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"harness"
	"harness/memory"
	"harness/tool"
)

const (
	recalled      = 8       // memories that a turn is told of
	recalledBytes = 8 << 10 // their length together
	nameBytes     = 48      // of a memory's name, which is made of its text
)

// newMemory is the tool that remembers. What it keeps or drops is a proposal:
// whoever allows the call accepts it.
func newMemory(book *memory.Book) tool.Tool {
	base := tool.NewMemory(nil)
	return &own{
		spec: base.Spec(),
		plan: func(input json.RawMessage) (tool.Plan, error) {
			p, err := base.Plan(new(tool.Env), input)
			in, bad := read[tool.MemoryInput](input)
			if err = errors.Join(err, bad); err == nil && in.Action != "recall" {
				p.Access = harness.AccessEdit
			}
			return p, err
		},
		run: func(_ context.Context, env *tool.Env, input json.RawMessage, d harness.Decision) (tool.Result, error) {
			in, err := read[tool.MemoryInput](input)
			if err != nil {
				return tool.Result{}, err
			}
			switch in.Action {
			case "remember":
				return remember(book, env, in, d)
			case "forget":
				return tool.Result{Text: "Forgotten."}, book.Remove(in.ID)
			}
			hits, err := recall(book, in.Query)
			if err == nil && len(hits) == 0 {
				return tool.Result{Text: "Nothing that is remembered fits."}, nil
			}
			return tool.Result{Text: listed(hits)}, err
		},
	}
}

func remember(book *memory.Book, env *tool.Env, in tool.MemoryInput, d harness.Decision) (tool.Result, error) {
	m := memory.Memory{Name: nameOf(in.Text), Text: in.Text, Session: env.Session, Event: string(env.Call), Created: time.Now().UTC(), Accepted: d.Actor}
	if in.Reason != "" {
		m.Text += "\n\n(From: " + in.Reason + ")"
	}
	if m.Accepted == "" {
		m.Accepted = string(d.Source)
	}
	if err := book.Save(m); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: "Remembered as " + m.Name + "."}, nil
}

// nameOf makes a memory's name of its first words.
func nameOf(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case b.Len() >= nameBytes:
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return name
	}
	return "memory-" + harness.Digest(json.RawMessage(text))[len("sha256:"):][:12]
}

// hit is a memory that fits.
type hit struct {
	memory.Memory
	score float64
}

// recall finds the memories that fit a text best.
func recall(book *memory.Book, query string) ([]hit, error) {
	all, err := book.All()
	if err != nil {
		return nil, err
	}
	specs := make([]tool.Spec, len(all))
	byName := make(map[string]memory.Memory, len(all))
	for i, m := range all {
		specs[i] = tool.Spec{Name: m.Name, Description: m.Text}
		byName[m.Name] = m
	}
	var hits []hit
	room := recalledBytes
	for _, s := range chosen(specs, query, recalled) {
		m := byName[s.Name]
		if s.Score > 0 && len(m.Text) <= room {
			room -= len(m.Text)
			hits = append(hits, hit{m, s.Score})
		}
	}
	return hits, nil
}

// listed is memories as the model reads them.
func listed(hits []hit) string {
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "[memory:%s] %s\n", h.Name, h.Text)
	}
	return b.String()
}

// recall tells the model what is remembered and fits the prompt, once per turn.
func (r *turn) recall(ctx context.Context) error {
	if r.s.book == nil || r.t.Attempt > 1 {
		return nil
	}
	query := harness.PlainText(r.t.Parts)
	hits, err := recall(r.s.book, query)
	if err != nil {
		r.log.Warn("memories not read", "err", err)
	}
	if len(hits) == 0 {
		return nil
	}
	event := &harness.Retrieval{Query: cut(query, maxSummary)}
	for _, h := range hits {
		event.Chunks = append(event.Chunks, harness.Chunk{Source: "memory:" + h.Name, Score: h.score})
	}
	if err := r.emit(ctx, event); err != nil {
		return err
	}
	return r.tell(ctx, "memory", "From earlier sessions in this workspace. Cite the name in brackets where you use one, and trust the files where they say otherwise.\n"+listed(hits))
}
