package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// Server is one row of the configuration: a program to start in the workspace,
// or a URL.
type Server struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string // added to the workspace's environment

	URL     string
	Headers map[string]string // sent to the URL's own host and to no other

	// Allow and Deny are patterns of tool names as path.Match has them. A tool
	// is offered if Allow is empty or matches it, and Deny does not.
	Allow, Deny []string
	// ReadOnly says that the server is trusted to tell which of its tools only
	// read; those need no approval. Otherwise what it says of itself counts for nothing.
	ReadOnly bool

	Start time.Duration // zero is StartTimeout
	Call  time.Duration // zero is CallTimeout
}

// check says what is wrong with a row.
func (s *Server) check() error {
	switch {
	case strings.TrimSpace(s.Name) == "":
		return errors.New("a server has no name")
	case (s.Command == "") == (s.URL == ""):
		return fmt.Errorf("mcp server %q needs either a command or a url", s.Name)
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("mcp server %q: the url is not an http or https one", s.Name)
		}
	}
	for _, list := range [][]string{s.Allow, s.Deny} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("mcp server %q: pattern %q: %w", s.Name, pattern, err)
			}
		}
	}
	for name := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("mcp server %q: %q is no name of a variable", s.Name, name)
		}
	}
	return nil
}

// offers reports whether the tool may be shown to the model.
func (s *Server) offers(name string) bool {
	return (len(s.Allow) == 0 || matches(s.Allow, name)) && !matches(s.Deny, name)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}
