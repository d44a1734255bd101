package acp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"harness"
	"harness/engine/internal/talk"
)

// terminal is a command that runs in the workspace for the agent.
type terminal struct {
	out  screen
	stop context.CancelFunc
	done chan struct{} // closed when it is gone, and the fields below are set
	exit harness.Exit
	err  error
}

type terminalRequest struct {
	Session  string   `json:"sessionId"`
	Terminal string   `json:"terminalId"`
	Command  string   `json:"command"`
	Args     []string `json:"args"`
	Env      []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	Dir   string `json:"cwd"`
	Limit int    `json:"outputByteLimit"`
}

// create starts a command for the agent.
func (r *run) create(ctx context.Context, m *talk.Message) error {
	var q terminalRequest
	if err := m.Read(&q); err != nil {
		return err
	}
	dir := "."
	if q.Dir != "" {
		in, ok := inside(r.turn.Directory, q.Dir)
		if !ok {
			return r.talk.Refuse(m.ID, talk.CodeInvalid, q.Dir+" is not in the workspace")
		}
		dir = in
	}
	line := strings.Join(append([]string{q.Command}, q.Args...), " ")
	use := harness.ToolUse{
		Tool: m.Method, Access: harness.AccessExecute, Description: line,
		Input: input(map[string]any{"command": q.Command, "args": q.Args, "cwd": dir, "env": q.Env}),
	}
	return r.permit(ctx, m, use, r.runs(&q, dir), func(ctx context.Context, c *talk.Call) (any, error) {
		id, err := r.launch(ctx, c, &q, dir)
		return map[string]string{"terminalId": id}, err
	})
}

// launch starts the command. It ends with the turn.
func (r *run) launch(ctx context.Context, c *talk.Call, q *terminalRequest, dir string) (string, error) {
	t := &terminal{done: make(chan struct{})}
	t.out.max = maxScreen
	if q.Limit > 0 {
		t.out.max = min(q.Limit, maxScreen)
	}
	p := harness.Process{Args: append([]string{q.Command}, q.Args...), Dir: dir, Stdout: &t.out, Stderr: &t.out}
	if len(q.Args) == 0 { // a line for a shell
		p.Args = []string{"/bin/sh", "-c", q.Command}
	}
	for _, e := range q.Env {
		p.Env = append(p.Env, e.Name+"="+e.Value)
	}
	ctx, t.stop = context.WithCancel(ctx)
	child, err := r.slot.Process.Work.Start(ctx, p)
	if err != nil {
		t.stop()
		return "", err
	}
	id := "term_" + strconv.Itoa(len(r.terms)+1)
	r.terms[id] = t
	r.talk.Go(func(context.Context) func(context.Context) error {
		defer close(t.done)
		defer t.stop()
		t.exit, t.err = child.Wait()
		return func(ctx context.Context) error { return r.close(ctx, c, t.end()) }
	})
	return id, nil
}

// end is how the command came out.
func (t *terminal) end() talk.End {
	text, _ := t.out.read()
	e := talk.End{Output: text, Result: input(map[string]any{"exit_code": t.exit.Code})}
	switch {
	case t.err != nil:
		e.Failed = t.err.Error()
	case t.exit.Code != 0:
		e.Failed = fmt.Sprintf("it ended with %d: %s", t.exit.Code, text)
	}
	return e
}

// screen is what a command printed, as far as it is kept.
func (r *run) screen(id string) string {
	t := r.terms[id]
	if t == nil {
		return ""
	}
	text, _ := t.out.read()
	return text
}

// terminal answers about a command that was started.
func (r *run) terminal(m *talk.Message) error {
	var q terminalRequest
	if err := m.Read(&q); err != nil {
		return err
	}
	t := r.terms[q.Terminal]
	if t == nil {
		return r.talk.Refuse(m.ID, talk.CodeInvalid, "no such terminal: "+q.Terminal)
	}
	switch m.Method {
	case "terminal/output":
		text, cut := t.out.read()
		answer := map[string]any{"output": text, "truncated": cut}
		select {
		case <-t.done:
			answer["exitStatus"] = t.status()
		default:
		}
		return r.talk.Reply(m.ID, answer)
	case "terminal/wait_for_exit":
		r.talk.Go(func(ctx context.Context) func(context.Context) error {
			select {
			case <-t.done:
			case <-ctx.Done():
			}
			return func(context.Context) error { return r.talk.Reply(m.ID, t.status()) }
		})
		return nil
	}
	t.stop() // kill or release
	return r.talk.Reply(m.ID, struct{}{})
}

// status is how a command ended.
func (t *terminal) status() any {
	if t.exit.Code > 128 {
		return map[string]any{"exitCode": nil, "signal": strconv.Itoa(t.exit.Code - 128)}
	}
	return map[string]any{"exitCode": t.exit.Code, "signal": nil}
}

// endTerminals ends every command and waits for that.
func (r *run) endTerminals() {
	for _, t := range r.terms {
		t.stop()
		<-t.done
	}
}

// maxScreen is how much of a command's output is kept.
const maxScreen = 1 << 20

// screen keeps the last of what is written to it.
type screen struct {
	max int

	mu  sync.Mutex // guards what follows
	b   []byte
	cut bool
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b = append(s.b, b...)
	if n := len(s.b) - s.max; n > 0 {
		s.b, s.cut = append(s.b[:0], s.b[n:]...), true
	}
	return len(b), nil
}

func (s *screen) read() (text string, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ToValidUTF8(string(s.b), ""), s.cut
}
