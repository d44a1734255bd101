package delta_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness"
	"harness/engine/script"
	"harness/internal/object"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// server is the real thing on a loopback port: kernel, memory store, script
// engine, hub.
type server struct {
	t      testing.TB
	k      *kernel.Kernel
	store  harness.Store
	hub    *delta.Hub
	engine *script.Engine
	web    *httptest.Server
	url    string
	close  func()

	shutdown func(context.Context) error // of the hub, once
}

func serve(t testing.TB, src string, opts *kernel.Options) *server {
	t.Helper()
	return serveOn(t, memory.New(), src, opts, nil)
}

func serveOn(t testing.TB, st harness.Store, src string, opts *kernel.Options, dopts *delta.Options) *server {
	t.Helper()
	return serveAs(t, (*httptest.Server).Start, st, src, opts, dopts)
}

// serveAs starts the listener as start does: with TLS or without.
func serveAs(t testing.TB, start func(*httptest.Server), st harness.Store, src string, opts *kernel.Options, dopts *delta.Options) *server {
	t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	engine := script.New(s, nil)
	o := kernel.Options{Engine: "script", IdleAfter: 20 * time.Millisecond}
	if opts != nil {
		o = *opts
		o.Engine = "script"
	}
	k := kernel.New(st, map[string]harness.Engine{"script": engine}, &o)
	hub, err := delta.New(k, dopts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(hub)
	start(web)
	sv := &server{t: t, k: k, store: st, hub: hub, engine: engine, web: web, url: "ws" + strings.TrimPrefix(web.URL, "http") + "/ws"}
	closed := false
	var once sync.Once
	sv.shutdown = func(ctx context.Context) (err error) {
		once.Do(func() { err = hub.Shutdown(ctx) })
		return err
	}
	sv.close = func() {
		if closed {
			return
		}
		closed = true
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		sv.shutdown(ctx)
		web.Close()
		k.Close()
	}
	t.Cleanup(sv.close)
	return sv
}

// client is S0's client: it applies what it is told and computes nothing.
type client struct {
	t     testing.TB
	ws    *websocket.Conn
	tree  object.Tree
	seq   uint64
	beat  uint64 // the position in the last hb
	acks  map[string]uint64
	errs  []wireError
	kinds []string // types of all frames, in order

	largest int // bytes of the largest frame
}

type wireError struct{ Message, Code, CommandID string }

const patience = time.Minute

func (s *server) dial(query string) *client {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, s.url+query, &websocket.DialOptions{HTTPClient: s.web.Client()})
	if err != nil {
		status := ""
		if resp != nil {
			status = resp.Status
		}
		s.t.Fatalf("dial %s: %v %s", query, err, status)
	}
	ws.SetReadLimit(64 << 20)
	s.t.Cleanup(func() { ws.CloseNow() })
	return &client{t: s.t, ws: ws, acks: map[string]uint64{}}
}

// connect dials and waits for the first state.
func (s *server) connect(query string) *client {
	s.t.Helper()
	c := s.dial(query)
	c.read()
	if c.kinds[0] != "state" {
		s.t.Fatalf("the first frame is %q, want state", c.kinds[0])
	}
	return c
}

// read takes one frame.
func (c *client) read() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.readErr(ctx); err != nil {
		c.t.Fatalf("read: %v\nso far: %v\nstate: %s", err, c.kinds, c.json())
	}
}

func (c *client) readErr(ctx context.Context) error {
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		return err
	}
	return c.take(data)
}

// take applies one frame.
func (c *client) take(data []byte) error {
	var m struct {
		Type       string
		Seq        uint64
		State      json.RawMessage
		Operations []object.Op
		Message    string
		Code       string
		CommandID  string `json:"commandId"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("frame %s: %w", data, err)
	}
	c.kinds = append(c.kinds, m.Type)
	c.largest = max(c.largest, len(data))
	switch m.Type {
	case "state":
		c.seq = m.Seq
		return c.tree.Apply([]object.Op{{Kind: object.Set, Path: []string{}, Value: m.State}})
	case "delta":
		if m.Seq <= c.seq {
			return fmt.Errorf("delta leads from %d to %d", c.seq, m.Seq)
		}
		c.seq = m.Seq
		if err := c.tree.Apply(m.Operations); err != nil {
			return fmt.Errorf("frame %s on %s: %w", data, c.json(), err)
		}
	case "ack":
		if _, ok := c.acks[m.CommandID]; ok {
			return fmt.Errorf("a second ack of %s", m.CommandID)
		}
		c.acks[m.CommandID] = m.Seq
	case "error":
		c.errs = append(c.errs, wireError{m.Message, m.Code, m.CommandID})
	case "hb":
		c.beat = m.Seq
	default:
		return fmt.Errorf("frame of unknown type: %s", data)
	}
	return nil
}

// count is how many frames of a kind have come.
func (c *client) count(kind string) (n int) {
	for _, k := range c.kinds {
		if k == kind {
			n++
		}
	}
	return n
}

func (c *client) json() []byte { return c.tree.AppendJSON(nil) }

// state is what the client has been told.
func (c *client) state() state {
	c.t.Helper()
	var s state
	if b := c.json(); !bytes.Equal(b, []byte("null")) {
		if err := json.Unmarshal(b, &s); err != nil {
			c.t.Fatalf("state %s: %v", b, err)
		}
	}
	return s
}

// until reads frames until the state satisfies a condition.
func (c *client) until(what string, cond func(state) bool) state {
	c.t.Helper()
	for looked := false; ; {
		if n := len(c.kinds); n > 0 && (!looked || c.kinds[n-1] == "state" || c.kinds[n-1] == "delta") {
			if s := c.state(); cond(s) {
				return s
			}
			looked = true
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := c.readErr(ctx)
		cancel()
		if err != nil {
			c.t.Fatalf("waiting until %s: %v\nframes: %v\nerrors: %v\nstate: %s", what, err, c.kinds, c.errs, c.json())
		}
	}
}

func (c *client) untilError() wireError {
	c.t.Helper()
	for n := len(c.errs); len(c.errs) == n; {
		c.read()
	}
	return c.errs[len(c.errs)-1]
}

func (c *client) untilAck(id string) uint64 {
	c.t.Helper()
	for {
		if seq, ok := c.acks[id]; ok {
			return seq
		}
		c.read()
	}
}

func (c *client) send(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// do sends one batch of commands.
func (c *client) do(commands ...string) {
	c.t.Helper()
	c.send(`{"type":"commands","commands":[` + strings.Join(commands, ",") + `]}`)
}

// The state of S0 and S1.
type state struct {
	Status           string
	Messages         []message
	PendingApprovals []struct{ ToolCallID, ToolName, Description, RequestID string }
	SessionID        string
	Error            *string
	FirstMessage     int
}

type message struct {
	ID, Role, Content, Status, Reasoning string
	ToolCalls                            []struct {
		ID, Name, Status, Output string
		Input                    json.RawMessage
		At                       int
	}
}

func idle(s state) bool {
	return s.Status == "idle" && len(s.Messages) > 0 && s.last().Status == "complete"
}

func (s state) last() message {
	if len(s.Messages) == 0 {
		return message{}
	}
	return s.Messages[len(s.Messages)-1]
}

var _ http.Handler = (*delta.Hub)(nil)
