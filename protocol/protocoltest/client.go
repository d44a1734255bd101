package protocoltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/coder/websocket"

	"harness"
	"harness/internal/object"
)

// client speaks S0 and keeps what it is told.
type client struct {
	stage *stage
	name  string
	ws    *websocket.Conn
	tree  object.Tree
	ops   object.Pending // told since the last line that waited for a state
	told  []string
	heard []string // acks and errors
	errs  int
	acks  int
	gone  bool
}

func (w *stage) connect(name, query string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(w.web.URL, "http")+"/ws"+query, nil)
	if err != nil {
		w.fatalf("connect: %v", err)
	}
	c := &client{stage: w, name: name, ws: ws}
	w.clients = append(w.clients, c)
	c.read()
}

func (c *client) leave() {
	if !c.gone {
		c.gone = true
		c.ws.CloseNow()
	}
}

func (c *client) act(verb, text string) {
	c.stage.t.Helper()
	quoted, _ := json.Marshal(text)
	switch verb {
	case "send":
		c.send(text)
	case "submit":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"submit","prompt":%s}]}`, quoted))
	case "resume":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"resume","prompt":%s,"sessionId":%q}]}`, quoted, c.stage.session))
	case "steer":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"steer","message":%s}]}`, quoted))
	case "cancel":
		c.send(`{"type":"commands","commands":[{"type":"cancel"}]}`)
	case "approve":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"approve","toolCallId":%q}]}`, c.pending()))
	case "deny":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"deny","toolCallId":%q,"reason":%s}]}`, c.pending(), quoted))
	case "configure":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"configure","config":%s}]}`, text))
	case "rewind":
		c.send(fmt.Sprintf(`{"type":"commands","commands":[{"type":"rewind","messageId":%s}]}`, quoted))
	case "until":
		c.until(text)
	case "leave":
		c.settle()
		c.leave()
	default:
		c.stage.fatalf("unknown verb %q", verb)
	}
}

func (c *client) send(text string) {
	c.stage.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		c.stage.fatalf("send: %v", err)
	}
}

type view struct {
	Status    string
	SessionID string
	Messages  []struct {
		Content   string
		ToolCalls []struct{ Output string }
	}
	PendingApprovals []struct{ ToolCallID string }
	Rewind           struct{ MessageID string }
}

func (c *client) view() view {
	var v view
	json.Unmarshal(c.tree.AppendJSON(nil), &v) // before the first state there is nothing
	return v
}

func (c *client) pending() string {
	c.stage.t.Helper()
	p := c.view().PendingApprovals
	if len(p) == 0 {
		c.stage.fatalf("%s sees no pending approval", c.name)
	}
	return p[0].ToolCallID
}

func (c *client) until(what string) {
	c.stage.t.Helper()
	word, text, _ := strings.Cut(what, " ")
	errs, acks := c.errs, c.acks
	done := func() bool {
		v := c.view()
		switch word {
		case "error":
			return c.errs > errs
		case "ack":
			return c.acks > acks
		case "text":
			n := len(v.Messages)
			return n > 0 && strings.Contains(v.Messages[n-1].Content, text)
		case "output":
			n := len(v.Messages)
			for n > 0 && len(v.Messages[n-1].ToolCalls) == 0 {
				n--
			}
			return n > 0 && strings.Contains(v.Messages[n-1].ToolCalls[len(v.Messages[n-1].ToolCalls)-1].Output, text)
		case "rewind":
			return v.Rewind.MessageID == text
		case "failed":
			return v.Status == "error"
		}
		return v.Status == word
	}
	for !done() {
		c.read()
	}
	if word != "ack" && word != "error" { // answers come before or after the operations, as it happens
		c.pause()
	}
}

// pause ends a run of operations: those before it are told merged, so that the
// story does not depend on how the server cut them into frames.
func (c *client) pause() {
	var ops []object.Op
	if err := json.Unmarshal(c.ops.AppendJSON(nil), &ops); err != nil {
		c.stage.fatalf("operations of %s: %v", c.name, err)
	}
	c.ops.Reset()
	for _, op := range ops {
		c.told = append(c.told, string(op.AppendJSON(nil)))
	}
}

// settle reads what is already decided: it asks the server something that is
// refused at once, and reads up to the answer.
func (c *client) settle() {
	if c.gone {
		return
	}
	errs := len(c.heard)
	c.send(`{"type":"settle"}`)
	for len(c.heard) <= errs || !strings.Contains(c.heard[len(c.heard)-1], `\"settle\"`) {
		c.read()
	}
	c.heard = c.heard[:len(c.heard)-1]
	c.pause()
}

// read takes one frame.
func (c *client) read() {
	c.stage.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		c.stage.fatalf("%s reads: %v\ntold so far:\n%s", c.name, err, strings.Join(c.told, "\n"))
	}
	if err := c.take(data); err != nil {
		c.stage.fatalf("%s was told %s: %v", c.name, data, err)
	}
}

var seqField = regexp.MustCompile(`,?"(seq|ts)":("[^"]*"|\d+)`)

func (c *client) take(data []byte) error {
	var f struct {
		Type       string
		Seq        harness.Seq
		State      json.RawMessage
		Operations []object.Op
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	switch f.Type {
	case "state":
		c.pause()
		c.told = append(c.told, "state "+string(f.State))
		if err := c.tree.Apply(replace(f.State)); err != nil {
			return err
		}
		if id := c.view().SessionID; id != "" {
			c.stage.session = harness.SessionID(id)
		}
	case "delta":
		if err := c.tree.Apply(f.Operations); err != nil {
			return err
		}
		for i := range f.Operations {
			c.ops.Add(&f.Operations[i])
		}
	case "error":
		c.errs++
		c.heard = append(c.heard, string(seqField.ReplaceAll(data, nil)))
	case "ack":
		c.acks++
		c.heard = append(c.heard, string(seqField.ReplaceAll(data, nil)))
	default:
		return errors.New("unknown frame")
	}
	if f.Operations != nil || f.State != nil {
		c.stage.note(f.Seq, c.tree.AppendJSON(nil))
	}
	return nil
}
