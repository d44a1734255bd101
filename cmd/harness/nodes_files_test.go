package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// gardens are nodes on one database that work on the same files.
func gardens(t *testing.T, n int, more ...string) *plots {
	t.Helper()
	script := filepath.Join(t.TempDir(), "rewind.script")
	if err := os.WriteFile(script, []byte(rewindScript), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &plots{garden: garden{t: t, dir: t.TempDir()}}
	p.args = append([]string{"--cwd", p.dir, "--drain", "1s"}, more...)
	url := schema(t)
	for range n {
		p.nodes = append(p.nodes, startNode(t, url, script, p.args...))
	}
	p.process = p.nodes[0]
	return p
}

type plots struct {
	garden
	nodes []*process
}

// next stops the node that was used and goes on with another.
func (p *plots) next() {
	p.t.Helper()
	if code := p.stop(); code != 0 {
		p.t.Fatalf("exit code %d\n%s", code, p.errors())
	}
	p.nodes = p.nodes[1:]
	p.process = p.nodes[0]
}

func (p *plots) create(body string) {
	p.t.Helper()
	var made struct {
		SessionID string `json:"session_id"`
	}
	p.must(http.StatusCreated, &made, "/chat/sessions", body)
	p.session = made.SessionID
}

// TestARewindWorksOnAnyNode has each turn of a session on another node, with the
// one before gone, and takes the files back on the last.
func TestARewindWorksOnAnyNode(t *testing.T) {
	t.Parallel()
	p := gardens(t, 3)
	p.write("f000", "first")
	p.create(`{"permission_mode":"full_auto"}`)
	first := p.turn(1, func() { p.write("f000", "second"); p.write("new", "second") })
	p.next()
	second := p.turn(2, func() { p.write("f000", "third") })
	p.next()
	if r := p.rewind(second, ""); len(r.FilesChanged) != 1 || len(r.Conflicts) != 0 {
		t.Errorf("to the second turn: %+v", r)
	}
	p.holds(0, map[string]string{"f000": "second", "new": "second"})
	back := p.rewind(first, "")
	p.holds(1, nil)
	p.rewind(back.ItemID, "")
	p.holds(0, map[string]string{"f000": "second", "new": "second"})
}

// TestTheWorkspaceAndArtifactsOfANodeThatIsGoneAreServed has a session work in a
// directory of its own on a node whose disk is then lost.
func TestTheWorkspaceAndArtifactsOfANodeThatIsGoneAreServed(t *testing.T) {
	t.Parallel()
	tasks := filepath.Join(t.TempDir(), "tasks")
	p := gardens(t, 2, "--tasks", tasks)
	p.write("f000", "first")
	p.create(`{"permission_mode":"full_auto","isolated":true}`)
	var about struct {
		Directory string `json:"directory"`
	}
	p.must(http.StatusOK, &about, "/chat/sessions/"+p.session, "")
	shared := p.dir
	p.dir = about.Directory
	first := p.turn(1, func() { p.write("f000", "second"); p.write("new", "second") })
	p.next()
	if err := os.RemoveAll(tasks); err != nil {
		t.Fatal(err)
	}
	p.turn(2, func() {
		p.holds(0, map[string]string{"f000": "second", "new": "second"})
		p.write("f000", "third")
	})
	p.rewind(first, "")
	p.holds(1, nil)
	p.dir = shared
	p.holds(1, nil)

	var log struct {
		Events []struct {
			Type    string `json:"type"`
			Payload struct {
				ID  string `json:"artifact_id"`
				URI string `json:"uri"`
			} `json:"payload"`
		} `json:"events"`
	}
	p.must(http.StatusOK, &log, "/sessions/"+p.session+"/events?limit=1000", "")
	seen := 0
	for _, e := range log.Events {
		if e.Type != "artifact" {
			continue
		}
		seen++
		if status, content := p.get(e.Payload.URI, nil); status != http.StatusOK || !json.Valid([]byte(content)) {
			t.Errorf("artifact %s: %d %.200s", e.Payload.ID, status, content)
		}
	}
	if seen == 0 {
		t.Errorf("no artifact in %+v", log)
	}
}
