package native

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"harness"
	"harness/engine/native/schema"
	"harness/model"
	"harness/tool"
	"harness/tool/mcp"
)

// toolset is what a turn's model may call.
type toolset struct {
	all []*ready // by name

	mu      sync.Mutex   // guards offered while calls run
	offered []model.Tool // by name
}

// ready is a tool that can be called.
type ready struct {
	tool.Tool
	spec   tool.Spec
	schema *schema.Schema
	own    bool // always offered
}

// find is the tool of that name.
func (s *toolset) find(name string) *ready {
	i, ok := slices.BinarySearchFunc(s.all, name, func(t *ready, name string) int { return strings.Compare(t.spec.Name, name) })
	if !ok {
		return nil
	}
	return s.all[i]
}

// choose collects the turn's tools and says which of them the model sees.
func (r *turn) choose(ctx context.Context, p project) error {
	given := []tool.Tool{tool.NewAskUser()}
	if spawner, ok := r.h.(harness.Spawner); ok {
		given = append(given, tool.NewTask(r.delegate(spawner)))
	}
	given = append(given, r.newPlan())
	if len(p.skills) > 0 {
		given = append(given, newSkill(p.skills))
	}
	if r.s.book != nil {
		given = append(given, newMemory(r.s.book))
	}
	if r.env != nil {
		given = append(given, tool.NewSearch(r.search))
	}
	for _, t := range given {
		r.add(t, true)
	}
	if r.env != nil {
		for _, t := range r.e.opts.Tools {
			r.add(t, false)
		}
		if err := r.serve(ctx); err != nil {
			return err
		}
	}
	if err := r.offer(ctx); err != nil {
		return err
	}
	info := make([]harness.ToolInfo, len(r.tools.offered))
	for i, t := range r.tools.offered {
		first, _, _ := strings.Cut(t.Description, "\n")
		info[i] = harness.ToolInfo{Name: t.Name, Description: cut(first, 200)} // the log has it for every turn
	}
	cfg := r.h.Config()
	return r.emit(ctx, &harness.TurnStartTools{Tools: info, PermissionMode: cfg.PermissionMode, Agent: cfg.Agent})
}

// serve adds the tools of MCP servers, as they are at the turn's beginning, and
// says which servers are not there.
func (r *turn) serve(ctx context.Context) error {
	set := r.s.servers
	if set == nil {
		return nil
	}
	if _, err := set.Refresh(ctx); err != nil {
		r.log.Warn("tools of servers not refreshed", "err", err)
	}
	for _, t := range set.Tools() {
		r.add(t, false)
	}
	for _, s := range set.Status() {
		if s.State == mcp.Ready {
			continue
		}
		d := &harness.TransportDiagnostic{Status: "degraded", Kind: "mcp_server", ProviderRequested: s.Name, Reason: string(s.State)}
		if s.Err != nil {
			d.Reason += ": " + s.Err.Error()
		}
		if err := r.emit(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// add puts a tool in its place. The first of a name wins.
func (r *turn) add(t tool.Tool, own bool) {
	spec := t.Spec()
	i, taken := slices.BinarySearchFunc(r.tools.all, spec.Name, func(t *ready, name string) int { return strings.Compare(t.spec.Name, name) })
	if taken {
		r.log.Debug("tool left out: its name is taken", "tool", spec.Name)
		return
	}
	compiled, err := r.e.compile(spec.Schema)
	if err != nil {
		r.log.Warn("tool left out: its schema cannot be read", "tool", spec.Name, "err", err)
		return
	}
	r.tools.all = slices.Insert(r.tools.all, i, &ready{t, spec, compiled, own})
}

// offer decides what the model sees. If there are too many, it sees those that
// fit the conversation best, and a tool that finds the others.
func (r *turn) offer(ctx context.Context) error {
	limit := r.e.opts.Limits.Tools
	if limit < 0 || len(r.tools.all) <= limit {
		for _, t := range r.tools.all {
			r.tools.offered = append(r.tools.offered, model.Tool(t.spec))
		}
		return nil
	}
	r.add(r.newSearchTools(), true)
	var specs []tool.Spec
	for _, t := range r.tools.all {
		if t.own {
			r.reveal(t)
		} else {
			specs = append(specs, t.spec)
		}
	}
	best := chosen(specs, r.subject(), max(1, limit-len(r.tools.offered)))
	event := &harness.ToolSelected{}
	for _, b := range best {
		r.reveal(r.tools.find(b.Name))
		event.Tools = append(event.Tools, harness.ToolScore{Name: b.Name, Score: b.Score})
	}
	return r.emit(ctx, event)
}

// reveal offers a tool, in its place. Searches may do so at once.
func (r *turn) reveal(t *ready) {
	r.tools.mu.Lock()
	defer r.tools.mu.Unlock()
	i, known := slices.BinarySearchFunc(r.tools.offered, t.spec.Name, func(o model.Tool, name string) int { return strings.Compare(o.Name, name) })
	if !known {
		r.tools.offered = slices.Insert(slices.Clone(r.tools.offered), i, model.Tool(t.spec))
	}
}

// subject is what the conversation is about: what was said last.
func (r *turn) subject() string {
	var b strings.Builder
	for _, round := range tail(r.conv.rounds, 6) {
		for _, p := range round.said {
			b.WriteString(cut(p.Text, 2000) + "\n")
		}
		b.WriteString(cut(string(round.text), 1000) + "\n")
	}
	return b.String()
}

type search struct {
	Query string `json:"query"`
}

// found is how many tools a search reveals.
const found = 8

// newSearchTools finds tools that are not offered and offers them.
func (r *turn) newSearchTools() tool.Tool {
	return &own{
		spec: tool.Spec{
			Name:        "search_tools",
			Description: "Finds tools that are not in your list, by what they do. Those that are found can be called from your next answer on.",
			Schema:      json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":500,"description":"What the tool should do, in a few words."}},"required":["query"],"additionalProperties":false}`),
		},
		plan: func(input json.RawMessage) (tool.Plan, error) {
			s, err := read[search](input)
			return tool.Plan{Access: harness.AccessRead, Summary: "search for tools: " + cut(s.Query, 100)}, err
		},
		run: func(_ context.Context, _ *tool.Env, input json.RawMessage, _ harness.Decision) (tool.Result, error) {
			s, err := read[search](input)
			if err != nil {
				return tool.Result{}, err
			}
			var specs []tool.Spec
			for _, t := range r.tools.all {
				if !t.own {
					specs = append(specs, t.spec)
				}
			}
			var b strings.Builder
			for _, hit := range chosen(specs, s.Query, found) {
				if hit.Score <= 0 {
					continue
				}
				t := r.tools.find(hit.Name)
				r.reveal(t)
				fmt.Fprintf(&b, "%s: %s\n", t.spec.Name, cut(t.spec.Description, 300))
			}
			if b.Len() == 0 {
				return tool.Result{Text: "No tool fits. Try other words."}, nil
			}
			return tool.Result{Text: b.String()}, nil
		},
	}
}
