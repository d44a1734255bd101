package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness"
	"harness/tool"
)

// resources is the tool that lists and reads what servers have to read.
type resources struct{ clients []*Client }

// Resources is one tool, mcp_resources, for the resources of all the clients.
func Resources(clients ...*Client) tool.Tool { return &resources{clients} }

type resourceInput struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// Spec is the same whatever the servers have.
func (r *resources) Spec() tool.Spec {
	return tool.Spec{
		Name:        "mcp_resources",
		Description: "Lists the resources of MCP servers, or reads one. Without uri it lists those of the named server, or of all. With uri it reads that resource; server says whose it is.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"name of a server"},"uri":{"type":"string","description":"resource to read"}},"additionalProperties":false}`),
	}
}

// Plan asks for what the strictest of the servers concerned needs.
func (r *resources) Plan(_ *tool.Env, input json.RawMessage) (tool.Plan, error) {
	in, clients, err := r.parse(input)
	if err != nil {
		return tool.Plan{}, err
	}
	p := tool.Plan{Access: harness.AccessRead, Summary: "list MCP resources"}
	if in.URI != "" {
		p.Summary = clients[0].server.Name + ": read " + shorten(in.URI, 200)
	}
	for _, c := range clients {
		p.Keys = append(p.Keys, "mcp:"+c.server.Name)
		if !c.server.ReadOnly && p.Access != harness.AccessExecute {
			p.Access = c.plan(nil).Access
		}
	}
	return p, nil
}

func (r *resources) parse(input json.RawMessage) (in resourceInput, clients []*Client, err error) {
	if len(input) > 0 {
		if err := json.Unmarshal(input, &in); err != nil {
			return in, nil, err
		}
	}
	var names []string
	for _, c := range r.clients {
		names = append(names, c.server.Name)
		if in.Server == "" || in.Server == c.server.Name {
			clients = append(clients, c)
		}
	}
	switch {
	case len(clients) == 0:
		return in, nil, fmt.Errorf("there is no server %q; there are %q", in.Server, names)
	case in.URI != "" && len(clients) > 1:
		return in, nil, fmt.Errorf("say which server has it; there are %q", names)
	}
	return in, clients, nil
}

// Run lists or reads. A server that cannot be listed is a line of the answer.
func (r *resources) Run(ctx context.Context, _ *tool.Env, input json.RawMessage) (tool.Result, error) {
	in, clients, err := r.parse(input)
	if err != nil {
		return tool.Result{}, err
	}
	var g gathering
	if in.URI != "" {
		var answer *sdk.ReadResourceResult
		err := clients[0].call(ctx, func(ctx context.Context, l *link) (err error) {
			answer, err = l.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: in.URI})
			return err
		})
		if err != nil {
			return tool.Result{}, err
		}
		for _, c := range answer.Contents {
			g.resource(c)
		}
		return g.result(), nil
	}
	var faults []error
	for _, c := range clients {
		lines, err := c.resources(ctx)
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		if err != nil {
			faults = append(faults, err)
			g.note("%v", err)
			continue
		}
		g.say(c.server.Name + ":\n" + strings.Join(lines, ""))
	}
	if len(faults) == len(clients) {
		return tool.Result{}, errors.Join(faults...)
	}
	return g.result(), nil
}

// resources lists a server's, one to a line.
func (c *Client) resources(ctx context.Context) (lines []string, err error) {
	err = c.call(ctx, func(ctx context.Context, l *link) error {
		if l.session.InitializeResult().Capabilities.Resources == nil {
			return nil
		}
		params := &sdk.ListResourcesParams{}
		for range maxPages {
			page, err := l.session.ListResources(ctx, params)
			if err != nil {
				return err
			}
			for _, r := range page.Resources {
				if len(lines) == MaxResources {
					lines = append(lines, fmt.Sprintf("  … only the first %d are shown\n", MaxResources))
					return nil
				}
				lines = append(lines, "  "+strings.Join(strings.Fields(shorten(r.URI+" "+r.MIMEType+" "+r.Name+" "+r.Description, 400)), " ")+"\n")
			}
			if page.NextCursor == "" {
				return nil
			}
			params = &sdk.ListResourcesParams{Cursor: page.NextCursor}
		}
		return nil
	})
	if err == nil && len(lines) == 0 {
		lines = []string{"  none\n"}
	}
	return lines, err
}

// hasResources reports whether the server has any to offer.
func (c *Client) hasResources() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.session.InitializeResult().Capabilities.Resources != nil
}
