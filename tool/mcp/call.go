package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness"
	"harness/tool"
)

// remoteTool is one tool of a server.
type remoteTool struct {
	client *Client
	remote string // its name over there
	spec   tool.Spec
	plan   tool.Plan // without the summary
}

// offer makes tools of what the server lists: those that its row allows, in the
// order of their names. It counts the ones that are not offered.
func (c *Client) offer(list []*sdk.Tool) (tools []tool.Tool, hidden int) {
	taken := map[string]bool{}
	var all []*remoteTool
	for _, t := range list {
		schema, ok := objectSchema(t.InputSchema)
		if !ok || t.Name == "" || len(all) == MaxTools || !c.server.offers(t.Name) {
			hidden++
			continue
		}
		name := toolName(c.slug, t.Name, taken)
		if taken[name] {
			hidden++ // the same name twice
			continue
		}
		taken[name] = true
		all = append(all, &remoteTool{client: c, remote: t.Name, plan: c.plan(t.Annotations), spec: tool.Spec{
			Name: name, Description: shorten(cmp.Or(t.Description, t.Title, t.Name), MaxDescription), Schema: schema,
		}})
	}
	slices.SortFunc(all, func(a, b *remoteTool) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	for _, t := range all {
		tools = append(tools, t)
	}
	return tools, hidden
}

// plan is what a call touches. A server whose word counts for nothing may do
// anything that its place lets it.
func (c *Client) plan(says *sdk.ToolAnnotations) tool.Plan {
	trusted := c.server.ReadOnly && says != nil
	p := tool.Plan{Access: harness.AccessExecute, Destructive: !trusted || says.DestructiveHint == nil || *says.DestructiveHint}
	if c.server.URL != "" {
		// It is elsewhere, so it touches nothing of the workspace.
		p.Access, p.Keys = harness.AccessNetwork, []string{"mcp:" + c.server.Name}
	}
	if trusted && says.ReadOnlyHint {
		p = tool.Plan{Access: harness.AccessRead, Keys: []string{"mcp:" + c.server.Name}}
	}
	return p
}

// objectSchema is the schema as bytes that are the same every time, if it is one
// of an object and not too large.
func objectSchema(from any) (json.RawMessage, bool) {
	schema, ok := from.(map[string]any)
	if !ok {
		return nil, false
	}
	if kind, has := schema["type"]; !has {
		schema["type"] = "object"
	} else if kind != "object" {
		return nil, false
	}
	text, err := json.Marshal(schema)
	return text, err == nil && len(text) <= MaxSchema
}

func sameTool(a, b tool.Tool) bool {
	x, y := a.(*remoteTool), b.(*remoteTool)
	return x.spec.Name == y.spec.Name && x.spec.Description == y.spec.Description && bytes.Equal(x.spec.Schema, y.spec.Schema) &&
		x.remote == y.remote && x.plan.Access == y.plan.Access && x.plan.Destructive == y.plan.Destructive
}

// Spec describes the tool.
func (t *remoteTool) Spec() tool.Spec { return t.spec }

// Plan says what the server's place and its word let it touch.
func (t *remoteTool) Plan(_ *tool.Env, input json.RawMessage) (tool.Plan, error) {
	p := t.plan
	p.Keys = slices.Clone(p.Keys)
	p.Summary = t.client.server.Name + ": " + t.remote
	if len(input) > 0 && string(input) != "{}" {
		p.Summary += " " + shorten(string(input), 200)
	}
	return p, nil
}

// Run sends the call once.
func (t *remoteTool) Run(ctx context.Context, env *tool.Env, input json.RawMessage) (tool.Result, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	var answer *sdk.CallToolResult
	err := t.client.call(ctx, func(ctx context.Context, l *link) (err error) {
		params := &sdk.CallToolParams{Name: t.remote, Arguments: input}
		if env != nil && env.Log != nil {
			token, forget := l.watch(func(line string) { env.Log("progress", line) })
			defer forget()
			params.SetProgressToken(token)
		}
		answer, err = l.session.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return tool.Result{}, err
	}
	return result(answer)
}

// shorten cuts s to at most n bytes, between characters, and makes it valid.
func shorten(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	cut := n - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
