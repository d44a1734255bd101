package mcp

import (
	"bytes"
	"strings"
	"sync"
)

// tail keeps the last lines of what is written to it, cut to a length.
type tail struct {
	mu    sync.Mutex // guards what follows
	lines []string
	rest  []byte // of the line that has not ended
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	for {
		line, after, ended := bytes.Cut(p, []byte("\n"))
		t.rest = append(t.rest, line[:min(len(line), tailLine-len(t.rest))]...)
		if !ended {
			return n, nil
		}
		t.add(string(t.rest))
		t.rest, p = t.rest[:0], after
	}
}

func (t *tail) add(line string) {
	line = strings.TrimRight(strings.ToValidUTF8(line, "\uFFFD"), " \r")
	if line == "" {
		return
	}
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

// String is the lines, and the one that has not ended.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := strings.Join(t.lines, "\n")
	if rest := strings.ToValidUTF8(string(t.rest), "\uFFFD"); strings.TrimSpace(rest) != "" {
		out = strings.TrimPrefix(out+"\n"+rest, "\n")
	}
	return out
}
