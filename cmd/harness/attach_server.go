package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"harness"
	"harness/internal/object"
)

// served is a session of a running server, over its WebSocket.
type served struct {
	*mirror
	sock  *sock
	tree  object.Tree
	steer map[string]string // command → what was said to a turn, not yet answered
}

// watchServer follows a session, or the newest. The first message is its state.
func watchServer(ctx context.Context, r remote, id string, t *transcript) (*served, error) {
	if id == "" {
		var err error
		if id, err = newestOf(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", r.url, err)
		}
	}
	s, err := dialSock(ctx, r, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.url, err)
	}
	t.remark(dim, "session "+id+" on "+r.url)
	return &served{mirror: newMirror(t), sock: s, steer: map[string]string{}}, nil
}

// newestOf asks a server for the session that changed last.
func newestOf(ctx context.Context, r remote) (string, error) {
	c, err := dialRPC(ctx, r)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(dialFor)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(c, `{"jsonrpc":"2.0","id":1,"method":"thread.list","params":{"limit":1}}`); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadBytes('\n')
	if err != nil {
		return "", err
	}
	var a struct {
		Result struct{ Threads []struct{ ThreadID string } }
		Error  *fault
	}
	switch err := json.Unmarshal(line, &a); {
	case err != nil:
		return "", err
	case a.Error != nil:
		return "", a.Error
	case len(a.Result.Threads) == 0:
		return "", errNoThread
	}
	return a.Result.Threads[0].ThreadID, nil
}

func (s *served) what() <-chan []byte { return s.sock.frames }

func (s *served) gone() error {
	s.sock.close()
	return errors.New("the server has ended the connection; harness attach goes on when it is back")
}

func (s *served) close(bool) { s.sock.close() }

func (s *served) ours() bool { return false }

// take applies a message of the server.
func (s *served) take(line []byte, now time.Time) error {
	var m struct {
		Type, Message, Code, CommandID string
		State                          json.RawMessage
		Operations                     []object.Op
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("the server sent %q: %w", clean(string(line), 80), err)
	}
	switch m.Type {
	case "ack":
		delete(s.steer, m.CommandID)
		return nil
	case "error":
		if text, ok := s.steer[m.CommandID]; ok && m.Code == harness.ErrNotRunning.Code {
			s.resume(text)
		} else {
			s.t.remark(red, m.Message)
		}
		delete(s.steer, m.CommandID)
		return nil
	case "state":
		m.Operations = []object.Op{{Kind: object.Set, Path: []string{}, Value: m.State}}
	}
	if len(m.Operations) == 0 {
		return nil
	}
	if err := s.tree.Apply(m.Operations); err != nil {
		return fmt.Errorf("the server sent operations that do not fit: %w", err)
	}
	var v view
	if err := json.Unmarshal(s.tree.AppendJSON(nil), &v); err != nil {
		return err
	}
	s.show(v, now)
	return nil
}

// command sends one. If the server is gone, that shows at the end of its frames.
func (s *served) command(fields map[string]any) {
	b, err := json.Marshal(map[string]any{"type": "commands", "commands": []any{fields}})
	if err != nil {
		panic(fmt.Sprintf("harness attach: %v", err)) // only our own values come here
	}
	s.sock.send(b)
}

// prompt starts a turn, or says something to the one that runs. If that ended
// before we saw it end, what was said starts the next one.
func (s *served) prompt(text string) {
	if !s.running() {
		s.resume(text)
		return
	}
	id := rand.Text()
	s.steer[id] = text
	s.command(map[string]any{"type": "steer", "message": text, "commandId": id})
}

func (s *served) resume(text string) {
	s.command(map[string]any{"type": "resume", "prompt": text, "sessionId": s.now.SessionID})
}

func (s *served) decide(q question, reply string) {
	s.mine[q.id] = reply
	if reply == "reject" {
		s.command(map[string]any{"type": "deny", "toolCallId": q.call, "requestId": q.id})
		return
	}
	s.command(map[string]any{"type": "approve", "toolCallId": q.call, "requestId": q.id})
}

func (s *served) cancel() {
	s.stop = true
	s.command(map[string]any{"type": "cancel"})
}
