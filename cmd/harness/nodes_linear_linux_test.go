package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/node/nodetest"
	"harness/store/postgres/postgrestest"
)

// TestHistoriesOfProcessesAreLinearizable has clients of three real nodes send
// prompts to the same sessions over HTTP, under a key each and again elsewhere if
// they do not hear, and read them, while nodes are killed, stopped for longer
// than their lease and cut off in one direction or both, and while the database
// is killed and its disk is full. Its clock is a day ahead of everybody's.
func TestHistoriesOfProcessesAreLinearizable(t *testing.T) {
	t.Parallel()
	c := newLinearCluster(t)
	names := []string{"killed", "stopped", "database", "cut", "half"}
	if c.ballast != "" {
		names = append(names, "disk")
	}
	rounds := len(names)
	if os.Getenv("LONG") != "" {
		rounds *= 10
	}
	var ids []harness.SessionID
	for range 3 {
		ids = append(ids, harness.SessionID(c.at(0).make(t, "")))
	}
	h := &nodetest.History{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var clients sync.WaitGroup
	for i := range 4 {
		rng := rand.New(rand.NewPCG(uint64(i), 17))
		clients.Go(func() {
			every := time.NewTicker(10 * time.Millisecond)
			defer every.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				id, p := ids[rng.IntN(len(ids))], c.at(rng.IntN(3))
				if rng.IntN(3) == 0 {
					h.Read(i, id, p.prompts)
				} else {
					key := fmt.Sprintf("c%d.%d", i, n)
					h.Submit(i, id, key, func() (harness.Seq, error) {
						seq, err := p.prompt(id, key)
						if err != nil { // and once more, elsewhere
							seq, err = c.at(rng.IntN(3)).prompt(id, key)
						}
						return seq, err
					})
				}
				select {
				case <-every.C:
				case <-ctx.Done():
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(3, 5))
	for round := range rounds {
		c.fault(names[round%len(names)], rng.IntN(3))
		c.pause(150 * time.Millisecond)
	}
	cancel()
	clients.Wait()
	for _, id := range ids {
		eventually(t, "the log can be read", func() bool { _, err := c.at(0).prompts(id); return err == nil })
		h.Read(99, id, c.at(0).prompts)
	}
	all, known := h.Known()
	t.Logf("%d faults, %d operations, %d with a known outcome", rounds, all, known)
	if known < 20 {
		t.Errorf("too little was answered to say anything")
	}
	h.Check(t, c.at(0).prompts)
}

// linearLease is short, so that faults are.
const linearLease = 500 * time.Millisecond

// linearCluster is three nodes on a database that can be hurt.
type linearCluster struct {
	t       *testing.T
	server  *postgrestest.Server
	ballast string // on the database's disk, if that is small
	walls   []*postgrestest.Wall
	file    string

	mu    sync.Mutex // guards nodes
	nodes []*process
}

func newLinearCluster(t *testing.T) *linearCluster {
	c := &linearCluster{t: t, file: filepath.Join(t.TempDir(), "play.script"), nodes: make([]*process, 3)}
	if err := os.WriteFile(c.file, []byte("echo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // who may make a disk
		c.server, c.ballast = postgrestest.StartOnASmallDisk(t)
	} else {
		c.server = postgrestest.StartAlone(t)
	}
	url := c.server.URL(t)
	c.server.Exec(t, url, "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 day' $$")
	for i := range c.nodes {
		c.walls = append(c.walls, postgrestest.NewWall(t, url+",pg_catalog")) // so that the schema's own functions come first
		c.nodes[i] = c.open(i)
	}
	return c
}

func (c *linearCluster) open(i int) *process {
	return startNode(c.t, c.walls[i].URL, c.file, "--lease", linearLease.String())
}

func (c *linearCluster) at(i int) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i]
}

func (c *linearCluster) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.t.Context().Done():
	}
}

// fault does something to a node, or to the database of all, and makes it good
// again.
func (c *linearCluster) fault(name string, i int) {
	const long = linearLease * 3 / 2
	switch name {
	case "killed":
		c.at(i).kill()
		fresh := c.open(i)
		c.mu.Lock()
		c.nodes[i] = fresh
		c.mu.Unlock()
	case "stopped":
		c.at(i).cmd.Process.Signal(syscall.SIGSTOP)
		c.pause(long)
		c.at(i).cmd.Process.Signal(syscall.SIGCONT)
	case "database":
		c.server.Kill(c.t)
		c.server.Restart(c.t)
	case "cut", "half":
		ways := map[string][]postgrestest.Way{"cut": {postgrestest.BothWays}, "half": {postgrestest.FromDatabase, postgrestest.ToDatabase}}[name]
		for _, way := range ways {
			c.walls[i].Cut(way)
			c.pause(long)
			c.walls[i].Mend()
		}
	case "disk":
		full := filepath.Join(filepath.Dir(c.ballast), "full")
		if err := overfill(full); err != nil {
			c.t.Fatal(err)
		}
		c.pause(linearLease)
		if err := os.Remove(full); err != nil {
			c.t.Fatal(err)
		}
		c.server.Kill(c.t) // it may have given up by itself
		c.server.Restart(c.t)
	}
}

// overfill writes a file until its disk is full.
func overfill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for chunk := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(chunk)
	}
	return f.Close()
}

// prompt sends a prompt under a key and returns its place in the log. An error
// says that nobody knows.
func (p *process) prompt(id harness.SessionID, key string) (harness.Seq, error) {
	var receipt struct{ Seq harness.Seq }
	err := p.exchange("POST", fmt.Sprintf("/chat/sessions/%s/turns", id), fmt.Sprintf(`{"prompt":%q,"on_busy":"queue"}`, key), http.Header{"Idempotency-Key": {key}}, &receipt)
	return receipt.Seq, err
}

// prompts is what was said in a session, in its order.
func (p *process) prompts(id harness.SessionID) (all []nodetest.Prompt, err error) {
	for after := "0"; ; {
		var page struct {
			Events []event
			Next   string `json:"next_cursor"`
		}
		if err := p.exchange("GET", fmt.Sprintf("/sessions/%s/events?types=user_message&limit=1000&after=%s", id, after), "", nil, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			parts, _ := e.Payload["parts"].([]any)
			part, _ := parts[0].(map[string]any)
			text, _ := part["text"].(string)
			all = append(all, nodetest.Prompt{Key: text, Seq: harness.Seq(e.Seq)})
		}
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}

// exchange asks a node for something that it may be unable to say.
func (p *process) exchange(method, path, body string, header http.Header, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.http+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = p.bearer(http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}})
	for name, values := range header {
		req.Header[name] = values
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", r.Status, text)
	}
	return json.Unmarshal(text, into)
}
