package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lineClient is a client of S4 on the streams of a real `harness stdio`.
type lineClient struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	errs  bytes.Buffer
	next  int
	told  []heard            // notifications, in order
	hears func(method heard) // called for each
}

type heard struct {
	Method string
	Params struct {
		ThreadID, TurnID, ItemID, RequestID, Status, Delta, Type string
		Reasoning                                                bool
		Seq                                                      uint64
	}
}

func openLines(t testing.TB, cmd *exec.Cmd) *lineClient {
	t.Helper()
	c := &lineClient{t: t, cmd: cmd}
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &c.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	watchdog := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return c
}

// line reads one line, which must be JSON. A notification is remembered.
func (c *lineClient) line() (m message, err error) {
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("standard output has %q: %v", line, err)
	}
	if m.Method != "" {
		h := heard{Method: m.Method}
		if err := json.Unmarshal(m.Params, &h.Params); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
		c.told = append(c.told, h)
		if c.hears != nil {
			c.hears(h)
		}
	}
	return m, nil
}

// try makes a call and returns its answer, or why there was none.
func (c *lineClient) try(method, format string, args ...any) (json.RawMessage, error) {
	c.next++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{`+format+"}}\n", append([]any{c.next, method}, args...)...); err != nil {
		return nil, err
	}
	for {
		m, err := c.line()
		if err != nil {
			return nil, err
		}
		if m.ID != nil && *m.ID == c.next {
			if m.Error != nil {
				return nil, m.Error
			}
			return m.Result, nil
		}
	}
}

// do makes a call that must succeed and returns a field of its result.
func (c *lineClient) do(field, method, format string, args ...any) string {
	c.t.Helper()
	result, err := c.try(method, format, args...)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", method, err, c.errs.String())
	}
	for name := range strings.SplitSeq(field, ".") {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(result, &fields); err != nil || fields[name] == nil {
			c.t.Fatalf("%s answered %s, without %s", method, result, field)
		}
		result = fields[name]
	}
	var text string
	if json.Unmarshal(result, &text) != nil {
		return string(result)
	}
	return text
}

// until reads until a notification comes, which may be there already.
func (c *lineClient) until(method string) heard {
	c.t.Helper()
	for i := 0; ; i++ {
		for len(c.told) <= i {
			if _, err := c.line(); err != nil {
				c.t.Fatalf("waiting for %s: %v\n%s", method, err, c.errs.String())
			}
		}
		if c.told[i].Method == method {
			h := c.told[i]
			c.told = c.told[i+1:]
			return h
		}
	}
}

// leave closes the input and returns the exit code.
func (c *lineClient) leave() int {
	c.t.Helper()
	c.in.Close()
	io.Copy(io.Discard, c.out)
	c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// playingHere are the flags of a program that plays the script in a directory.
func playingHere(t testing.TB, dir string) []string {
	t.Helper()
	return []string{"--cwd", dir, "--engine", playing(t, dir)[3]}
}

// The first and the second example of S4's section on the command line; the
// third is TestRunInAPipe.
func TestTheServerOfS4OnTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openLines(t, invocation(t, append([]string{"stdio"}, playingHere(t, dir)...)...))
	if v := c.do("version", "initialize", ""); v != release {
		t.Errorf("it is version %q", v)
	}
	thread := c.do("thread.threadId", "thread.create", "")
	c.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"hello"}]`, thread)
	if end := c.until("turn.completed"); end.Params.Status != "completed" {
		t.Errorf("the turn ended as %q", end.Params.Status)
	}
	if code := c.leave(); code != 0 || c.errs.Len() > 0 {
		t.Errorf("exit code %d\n%s", code, c.errs.String())
	}

	cmd := invocation(t, "stdio")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n")
	o := finish(t, cmd)
	var a message
	if err := json.Unmarshal([]byte(o.stdout), &a); err != nil || o.code != 0 || a.ID == nil || *a.ID != 1 || strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("exit code %d, %q, %v\n%s", o.code, o.stdout, err, o.stderr)
	}
}

func TestStdioStopsOnATerminationSignal(t *testing.T) {
	t.Parallel()
	c := openLines(t, invocation(t, "stdio", "--store", "memory"))
	c.do("version", "initialize", "")
	c.cmd.Process.Signal(syscall.SIGTERM)
	io.Copy(io.Discard, c.out) // its input stays open
	c.cmd.Wait()
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.errs.String())
	}
}

// An editor over stdio and a browser over WebSocket share one live session of a
// server: the turn begins on one side, its question is answered on the other.
func TestATurnOfStdioIsApprovedOverWebSocket(t *testing.T) {
	t.Parallel()
	p := start(t, playing(t, t.TempDir())...)
	c := openLines(t, invocation(t, "stdio", "--connect", p.http))
	c.do("version", "initialize", "")
	thread := c.do("thread.threadId", "thread.create", "")
	c.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"ask"}]`, thread)
	c.until("approval.requested")
	v := p.view("?sessionId=" + thread)
	call := v.see("the question", pending).PendingApprovals[0].ToolCallID
	acked(t, v.do(`"type":"approve","toolCallId":%q`, call))
	var said strings.Builder
	c.hears = func(h heard) {
		if h.Method == "item.delta" && h.Params.Type == "assistant_message" {
			said.WriteString(h.Params.Delta)
		}
	}
	if end := c.until("turn.completed"); end.Params.Status != "completed" || !strings.HasSuffix(said.String(), " done") {
		t.Errorf("the turn ended as %q and said %q", end.Params.Status, &said)
	}
	v.see("the same", saying("asking done"))
	if code := c.leave(); code != 0 || c.errs.Len() > 0 {
		t.Errorf("exit code %d\n%s", code, c.errs.String())
	}
}

func TestAStoppingServerEndsItsLines(t *testing.T) {
	t.Parallel()
	p := start(t, playing(t, t.TempDir())...)
	c := openLines(t, invocation(t, "stdio", "--connect", p.http))
	c.do("version", "initialize", "")
	if code := p.stop(); code != 0 {
		t.Errorf("the server's exit code is %d\n%s", code, p.errors())
	}
	if _, err := c.line(); err != io.EOF {
		t.Errorf("the line did not end: %v", err)
	}
	c.cmd.Wait() // its input is still open
	if code := c.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(c.errs.String(), p.http+" has ended the connection") {
		t.Errorf("exit code %d\n%s", code, c.errs.String())
	}
}

func TestConnectingToNothingSaysSo(t *testing.T) {
	t.Parallel()
	p := start(t, playing(t, t.TempDir())...)
	mustFail(t, 1, []string{"--connect http://127.0.0.1:1", "refused"}, "stdio", "--connect", "http://127.0.0.1:1")
	mustFail(t, 1, []string{"--connect 127.0.0.1:1", "not an http address"}, "stdio", "--connect", "127.0.0.1:1")
	mustFail(t, 1, []string{"harness run: --connect http://127.0.0.1:1"}, "run", "--connect", "http://127.0.0.1:1", "hello")
	mustFail(t, 1, []string{"harness attach: ", "refused"}, "attach", "--connect", "http://127.0.0.1:1")
	mustFail(t, 1, []string{"no session yet"}, "attach", "--connect", p.http)
	mustFail(t, 1, []string{"no such session"}, "attach", "--connect", p.http, "ses_nobody")
}
