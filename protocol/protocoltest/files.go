package protocoltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"harness"
	"harness/workspace"
)

// workplace is the directory of a story that has files. The story calls it
// /workspace.
type workplace struct {
	stage *stage
	dir   string
	trees *workspace.Trees
	marks map[string]string // snapshots, as the story counts them
}

// files gives the story a directory with files, a line each: "NAME TEXT".
func (w *stage) files(section string) {
	w.t.Helper()
	p := &workplace{stage: w, dir: w.t.TempDir(), trees: workspace.NewTrees(w.t.TempDir(), nil), marks: map[string]string{}}
	for line := range strings.Lines(section) {
		p.write(strings.TrimSpace(line))
	}
	w.yard = p
}

// write is an edit.
func (p *workplace) write(line string) {
	p.stage.t.Helper()
	name, text, _ := strings.Cut(line, " ")
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text+"\n"), 0o644); err != nil {
		p.stage.fatalf("%v", err)
	}
}

// sh is a shell command.
func (p *workplace) sh(command string) {
	p.stage.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir = p.dir
	if out, err := c.CombinedOutput(); err != nil {
		p.stage.fatalf("%v: %s", err, out)
	}
}

// has checks what the directory holds: "NAME=TEXT NAME=TEXT".
func (p *workplace) has(want string) {
	p.stage.t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.stage.fatalf("%v", err)
	}
	var list []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(p.dir, e.Name()))
		if err != nil {
			p.stage.fatalf("%v", err)
		}
		list = append(list, e.Name()+"="+strings.Join(strings.Fields(string(text)), " "))
	}
	if got := strings.Join(list, " "); got != want {
		p.stage.fatalf("the directory has %s", got)
	}
}

var markID = regexp.MustCompile(`mrk_[0-9a-z]{20,}`)

// plain is a text as the story tells it.
func (p *workplace) plain(text string) string {
	if p == nil {
		return text
	}
	text = strings.ReplaceAll(text, p.dir, "/workspace")
	return markID.ReplaceAllStringFunc(text, func(id string) string {
		if p.marks[id] == "" {
			p.marks[id] = fmt.Sprintf("mrk_%d", len(p.marks)+1)
		}
		return p.marks[id]
	})
}

// overHTTP sends "METHOD PATH [BODY]"; {id} is the story's session.
func (w *stage) overHTTP(line string) {
	w.t.Helper()
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(strings.ReplaceAll(rest, "{id}", string(w.session)), " ")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.http.URL+path, strings.NewReader(body))
	if err != nil {
		w.fatalf("%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.fatalf("%v", err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		w.fatalf("%v", err)
	}
	w.answers = append(w.answers, fmt.Sprintf("http %d %s", resp.StatusCode, strings.TrimSpace(string(got))))
}

// call sends "METHOD PARAMS" over JSON-RPC, PARAMS without the thread.
func (w *stage) call(line string) {
	w.t.Helper()
	method, params, _ := strings.Cut(line, " ")
	w.overRPC(func(c *rpcClient) {
		c.send(method, strings.Replace(params, "{", ",", 1)[:len(params)-1])
		for {
			var m struct{ Method, Result, Error json.RawMessage }
			if err := c.out.Decode(&m); err != nil {
				w.fatalf("rpc: %v", err)
			}
			if m.Method == nil {
				w.answers = append(w.answers, "rpc "+string(append(m.Result, m.Error...)))
				return
			}
		}
	})
}

// answered is what was answered over HTTP and JSON-RPC.
func (w *stage) answered() string {
	if len(w.answers) == 0 {
		return ""
	}
	return w.yard.plain(strings.Join(w.answers, "\n") + "\n")
}

// rewinder is the story's, if it has files.
func (p *workplace) rewinder(dir string) (harness.Rewinder, error) {
	if p == nil {
		return nil, harness.ErrUnsupported
	}
	return p.trees.Of(dir)
}
