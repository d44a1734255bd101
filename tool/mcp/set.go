package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"harness"
	"harness/tool"
)

// Set is several servers, of which none can break another.
type Set struct {
	clients []*Client // nil where the start failed
	status  []Status  // as of the start
}

// Status says how a server is.
type Status struct {
	Name   string
	State  State
	Tools  int   // offered
	Hidden int   // not offered: denied, too many, too large, or not usable
	Err    error // why it is not ready
}

// State is a server's.
type State string

// States.
const (
	Ready  State = "ready"
	Down   State = "down"   // died; the next call starts it again
	Failed State = "failed" // does not start, or not again
)

// OpenAll starts servers side by side and returns when each has started or
// failed to. ctx bounds the starts.
func OpenAll(ctx context.Context, servers []Server, workspace harness.Workspace) *Set {
	s := &Set{clients: make([]*Client, len(servers)), status: make([]Status, len(servers))}
	slugs, names := map[string]bool{}, map[string]bool{}
	starting := make(chan struct{}, parallelStarts)
	var wg sync.WaitGroup
	for i, server := range servers {
		s.status[i] = Status{Name: server.Name}
		if names[server.Name] {
			s.status[i].State, s.status[i].Err = Failed, fmt.Errorf("there are two mcp servers %q", server.Name)
			continue
		}
		slug := serverSlug(server.Name, slugs)
		slugs[slug], names[server.Name] = true, true
		wg.Go(func() {
			starting <- struct{}{}
			defer func() { <-starting }()
			c, err := open(ctx, server, slug, workspace)
			if err != nil {
				s.status[i].State, s.status[i].Err = Failed, err
				return
			}
			s.clients[i] = c
		})
	}
	wg.Wait()
	return s
}

// Tools are those of all servers, in the order of the servers, and mcp_resources
// if one of them has resources.
func (s *Set) Tools() (all []tool.Tool) {
	var have []*Client
	for _, c := range s.clients {
		if c == nil {
			continue
		}
		all = append(all, c.Tools()...)
		if c.hasResources() {
			have = append(have, c)
		}
	}
	if len(have) > 0 {
		all = append(all, Resources(have...))
	}
	return all
}

// Refresh refreshes every server; the error joins those of all.
func (s *Set) Refresh(ctx context.Context) (changed bool, err error) {
	var faults []error
	for _, c := range s.clients {
		if c == nil {
			continue
		}
		one, err := c.Refresh(ctx)
		changed = changed || one
		faults = append(faults, err)
	}
	return changed, errors.Join(faults...)
}

// Status is that of every server, in the order of OpenAll.
func (s *Set) Status() []Status {
	all := make([]Status, len(s.status))
	for i, c := range s.clients {
		all[i] = s.status[i]
		if c != nil {
			all[i] = c.Status()
		}
	}
	return all
}

// Close ends all servers.
func (s *Set) Close() {
	var wg sync.WaitGroup
	for _, c := range s.clients {
		if c != nil {
			wg.Go(c.Close)
		}
	}
	wg.Wait()
}

// Status says how the server is.
func (c *Client) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{Name: c.server.Name, State: Ready, Tools: len(c.tools), Hidden: c.hidden}
	switch why := context.Cause(c.link.life); {
	case c.failed != nil:
		s.State, s.Err = Failed, c.failed
	case errors.Is(why, errFlood):
		s.State, s.Err = Failed, why
	case why != nil:
		s.State, s.Err = Down, why
	}
	return s
}
