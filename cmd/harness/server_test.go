package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const patience = 30 * time.Second

// process is a real `harness serve`.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	ws     string // ws://host:port/ws
	http   string
	token  string // of the owner
	exited chan error
	conns  []*conn

	mu     sync.Mutex // guards what follows
	stderr bytes.Buffer
	stdout bytes.Buffer // behind the line with the address
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *process) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// output is what the server has printed behind its address.
func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stdout.String()
}

var listens = regexp.MustCompile(`listens on (http://\S+)`)

// start runs the server and waits until it says where it listens.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	if !slices.Contains(args, "--data") {
		args = append(args, "--data", t.TempDir())
	}
	return launch(t, invocation(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...))
}

// launch is start with a command that the caller made.
func launch(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, exited: make(chan error, 1)}
	p.cmd.Stderr = p
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			p.http = m[1]
			p.ws = "ws" + strings.TrimPrefix(m[1], "http") + "/ws"
			break
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
			p.mu.Lock()
			p.stdout.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
		}
		io.Copy(io.Discard, stdout) // after a line that was too long
	}()
	go func() { <-drained; p.exited <- p.cmd.Wait() }()
	if p.ws == "" {
		t.Fatalf("the server did not start: %v\n%s", <-p.exited, p.errors())
	}
	if i := slices.Index(cmd.Args, "--data"); i > 0 {
		token, err := os.ReadFile(filepath.Join(cmd.Args[i+1], "token"))
		if err != nil {
			t.Fatal(err)
		}
		p.token = strings.TrimSpace(string(token))
		admission.Store(p.http, p.token)
	}
	return p
}

// kill is kill -9, and waits for the end.
func (p *process) kill() {
	p.cmd.Process.Kill()
	select {
	case err := <-p.exited:
		p.exited <- err
	case <-time.After(patience):
		p.t.Error("the killed server did not end")
	}
}

// stop is SIGTERM, and returns the exit code.
func (p *process) stop() int {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	var reading sync.WaitGroup
	for _, c := range p.conns { // a client that hears the goodbye answers it
		reading.Go(func() {
			for err := error(nil); err == nil; {
				_, err = c.read()
			}
		})
	}
	defer reading.Wait()
	return p.wait()
}

// wait returns the exit code; -1 is the end by a signal.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case err := <-p.exited:
		p.exited <- err
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			return e.ExitCode()
		}
		return 0
	case <-time.After(patience):
		p.t.Fatalf("the server did not stop\n%s", p.errors())
		return -1
	}
}

// conn is a WebSocket client that trusts only what it is told.
type conn struct {
	t     testing.TB
	ws    *websocket.Conn
	state wireState
}

type wireState struct {
	Status           string
	SessionID        string
	Messages         []map[string]any
	PendingApprovals []map[string]any
}

// bearer is a header with the owner's token.
func (p *process) bearer(h http.Header) http.Header {
	if h = h.Clone(); h == nil {
		h = http.Header{}
	}
	if len(h["Authorization"]) == 0 {
		h.Set("Authorization", "Bearer "+p.token)
	}
	return h
}

func (p *process) dial(query string) (*conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, p.ws+query, &websocket.DialOptions{HTTPHeader: p.bearer(nil)})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(64 << 20)
	return &conn{t: p.t, ws: ws}, nil
}

func (p *process) mustDial(query string) *conn {
	p.t.Helper()
	c, err := p.dial(query)
	if err != nil {
		p.t.Fatalf("dial %s: %v\n%s", query, err, p.errors())
	}
	p.t.Cleanup(func() { c.ws.CloseNow() })
	p.conns = append(p.conns, c)
	return c
}

// frame is any message of the server.
type frame struct {
	Type       string
	Seq        uint64
	State      json.RawMessage
	Operations []struct {
		Type  string
		Path  []string
		Value json.RawMessage
	}
	Message, Code string
	CommandID     string `json:"commandId"`
}

func (c *conn) read() (frame, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return frame{}, fmt.Errorf("%s: %w", data, err)
	}
	if f.State != nil {
		c.state = wireState{}
		if err := json.Unmarshal(f.State, &c.state); err != nil {
			return frame{}, fmt.Errorf("%s: %w", data, err)
		}
	}
	return f, nil
}

func (c *conn) send(commands string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, []byte(`{"type":"commands","commands":[`+commands+`]}`))
}

// until reads frames until one satisfies a condition.
func (c *conn) until(what string, cond func(frame) bool) frame {
	c.t.Helper()
	for {
		f, err := c.read()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", what, err)
		}
		if cond(f) {
			return f
		}
	}
}

// until waits for something that nobody tells of.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); !cond(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
