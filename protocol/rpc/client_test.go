package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/protocol/rpc"
	"harness/store/memory"
	"harness/workspace"
)

const patience = 20 * time.Second

// server is a kernel that several connections talk to.
type server struct {
	t      testing.TB
	k      *kernel.Kernel
	store  harness.Store
	engine *script.Engine

	rewinds bool // announced
}

func serve(t testing.TB, src string) *server {
	t.Helper()
	return serveOn(t, memory.New(), src)
}

func serveOn(t testing.TB, st harness.Store, src string) *server {
	t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	engine := script.New(s, nil)
	k := kernel.New(st, map[string]harness.Engine{"script": engine}, &kernel.Options{
		Engine: "script", Directory: "/workspace", Window: -1, Files: workspace.NewTrees(t.TempDir(), nil).Of, // of directories that exist
	})
	t.Cleanup(func() { k.Close() })
	if _, err := k.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &server{t: t, k: k, store: st, engine: engine}
}

// crash is a new server on what was durable at this moment.
func (s *server) crash(src string) *server {
	s.t.Helper()
	durable := s.store.(*memory.Store).Clone()
	s.k.Close()
	return serveOn(s.t, durable, src)
}

// client is the other end of a connection.
type client struct {
	t     testing.TB
	in    *io.PipeWriter
	lines chan line
	done  chan error
	id    int
	seen  []line // everything that came, in order
}

type line struct {
	raw    string
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    struct{ Code, Field string }
	}
}

func (s *server) connect() *client {
	s.t.Helper()
	return s.connectAs("")
}

func (s *server) connectAs(user string) *client {
	s.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: s.t, in: inW, lines: make(chan line), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		c.done <- rpc.Serve(ctx, s.k, inR, outW, &rpc.Options{Version: "1.0.0", User: user, Rewinds: s.rewinds})
		outW.Close()
	}()
	go func() {
		defer close(c.lines)
		sc := bufio.NewScanner(outR)
		sc.Buffer(nil, 256<<20)
		for sc.Scan() {
			l := line{raw: sc.Text()}
			if err := json.Unmarshal(sc.Bytes(), &l); err != nil && l.raw[0] != '[' {
				s.t.Errorf("not JSON on the output: %s", l.raw)
			}
			c.lines <- l
		}
	}()
	s.t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
		for range c.lines {
		}
	})
	return c
}

func (c *client) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// read takes the next line.
func (c *client) read() line {
	c.t.Helper()
	select {
	case l, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the connection ended")
		}
		c.seen = append(c.seen, l)
		return l
	case <-time.After(patience):
		c.t.Fatalf("nothing came; so far:\n%s", c.story())
		return line{}
	}
}

func (c *client) story() string {
	s := ""
	for _, l := range c.seen {
		s += l.raw + "\n"
	}
	return s
}

// notes are the notifications of a thread that came so far: method and params.
func (c *client) notes(thread string) []string {
	var list []string
	for _, l := range c.seen {
		if l.Method != "" && strings.Contains(l.raw, thread) {
			list = append(list, l.Method+" "+string(l.Params))
		}
	}
	return list
}

// refused is call for a request that must fail with the code.
func (c *client) refused(code int, word, method, params string) line {
	c.t.Helper()
	l := c.call(method, params)
	if l.Error == nil || l.Error.Code != code || l.Error.Data.Code != word {
		c.t.Errorf("%s %.200s: got %.300s, want %d %s", method, params, l.raw, code, word)
	}
	return l
}

// start starts a turn.
func (c *client) start(thread, text string) string {
	c.t.Helper()
	var r struct{ TurnID string }
	c.must(&r, "turn.start", fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":%q}]}`, thread, text))
	return r.TurnID
}

// get is the whole history of a thread, as thread.get tells it.
func (c *client) get(thread string) []json.RawMessage {
	c.t.Helper()
	var r struct{ Events []json.RawMessage }
	c.must(&r, "thread.get", fmt.Sprintf(`{"threadId":%q}`, thread))
	return r.Events
}

// sync reads everything that is told before the answer to one more request.
func (c *client) sync() {
	c.t.Helper()
	c.call("sync", `{}`)
}

// until reads up to a notification of the method.
func (c *client) until(method string) line {
	c.t.Helper()
	for {
		if l := c.read(); l.Method == method {
			return l
		}
	}
}

// call sends a request and reads up to its answer.
func (c *client) call(method, params string) line {
	c.t.Helper()
	c.id++
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, params))
	for {
		if l := c.read(); l.Method == "" && string(l.ID) == fmt.Sprint(c.id) {
			return l
		}
	}
}

// must is call for a request that succeeds; into takes the result.
func (c *client) must(into any, method, params string) {
	c.t.Helper()
	l := c.call(method, params)
	if l.Error != nil {
		c.t.Fatalf("%s %s: %s", method, params, l.raw)
	}
	if into != nil {
		if err := json.Unmarshal(l.Result, into); err != nil {
			c.t.Fatalf("%s: %v", l.raw, err)
		}
	}
}

// thread makes a thread.
func (c *client) thread() string {
	c.t.Helper()
	var r struct{ Thread struct{ ThreadID string } }
	c.must(&r, "thread.create", `{"title":"t"}`)
	return r.Thread.ThreadID
}
