package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"harness/internal/lazy"
	"harness/internal/strict"
)

// maxConfig bounds a configuration; people write a hundredth of it.
const maxConfig = 1 << 20

// row is a server as .mcp.json has it. Fields of other programs are not an error.
type row struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
	Allow    []string          `json:"allow"`
	Deny     []string          `json:"deny"`
	ReadOnly bool              `json:"readOnly"`
	Timeout  int64             `json:"timeout"` // of a call, in milliseconds
}

// Parse reads {"mcpServers": {…}}. ${NAME} and ${NAME:-default} are replaced in
// commands, arguments, values of env and headers, and URLs, by what vars has and
// by nothing else: the environment of this process is not asked.
//
// It returns the servers that are usable, ordered by name, and an error that
// names each one that is not.
//
// Whether a file deserves to be read at all is for the caller to say: one found
// in a repository starts programs of whoever wrote it, and may set ReadOnly.
func Parse(text []byte, vars map[string]string) ([]Server, error) {
	if err := strict.Check(text, maxConfig); err != nil {
		return nil, fmt.Errorf("mcp servers: %w", err)
	}
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("mcp servers: %w", err)
	}
	var servers []Server
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		var r row
		if err := json.Unmarshal(file.Servers[name], &r); err != nil {
			faults = append(faults, fmt.Errorf("mcp server %q: %w", name, err))
			continue
		}
		if r.Disabled {
			continue
		}
		s, err := r.server(name, vars)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		servers = append(servers, s)
	}
	return servers, errors.Join(faults...)
}

func (r *row) server(name string, vars map[string]string) (Server, error) {
	switch r.Type {
	case "", "stdio", "http", "streamable-http":
	default:
		return Server{}, fmt.Errorf("mcp server %q: transport %q is not supported", name, r.Type)
	}
	e := expander{vars: vars}
	s := Server{
		Name: name, Command: e.text(r.Command), Env: e.values(r.Env), URL: e.text(r.URL), Headers: e.values(r.Headers),
		Allow: r.Allow, Deny: r.Deny, ReadOnly: r.ReadOnly, Call: time.Duration(max(0, min(r.Timeout, 24*3600*1000))) * time.Millisecond,
	}
	for _, a := range r.Args {
		s.Args = append(s.Args, e.text(a))
	}
	if len(e.missing) > 0 {
		return Server{}, fmt.Errorf("mcp server %q: variables that it is not given: %q", name, e.missing)
	}
	return s, s.check()
}

var variable = lazy.Regexp{Expr: `\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`}

// expander replaces variables and remembers those nobody has.
type expander struct {
	vars    map[string]string
	missing []string
}

func (e *expander) text(s string) string {
	return variable.Get().ReplaceAllStringFunc(s, func(found string) string {
		m := variable.Get().FindStringSubmatch(found)
		if v, ok := e.vars[m[1]]; ok {
			return v
		}
		if m[2] == "" && !slices.Contains(e.missing, m[1]) {
			e.missing = append(e.missing, m[1])
		}
		return m[3]
	})
}

func (e *expander) values(in map[string]string) map[string]string {
	out := maps.Clone(in)
	for _, k := range slices.Sorted(maps.Keys(in)) {
		out[k] = e.text(in[k])
	}
	return out
}
