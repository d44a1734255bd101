package protocoltest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/coder/websocket"

	"harness"
	"harness/internal/object"
)

// wander checks that a client may leave any protocol at any position and go on
// with another: to event streams and JSON-RPC at each, to the WebSocket at each
// that a client of the story had a state of.
func (w *stage) wander() {
	w.t.Helper()
	log := w.events()
	if len(log) == 0 {
		return
	}
	told := w.notified()
	for n := range harness.Seq(len(log)) {
		w.goesOnOverSSE(log, n)
		w.goesOnOverRPC(told, n)
	}
	for n := range w.states {
		w.goesOnOverWebSocket(n, harness.Seq(len(log)))
	}
}

// goesOnOverSSE is for who heard everything up to n elsewhere.
func (w *stage) goesOnOverSSE(log []harness.Event, n harness.Seq) {
	w.t.Helper()
	f := &follower{stage: w, id: w.session, last: n}
	f.upTo(harness.Seq(len(log)))
	f.leave()
	f.tells(log)
}

// goesOnOverRPC is the same; told is what is told to who was nowhere.
func (w *stage) goesOnOverRPC(told []string, n harness.Seq) {
	w.t.Helper()
	var want []string
	for _, t := range told {
		_, params, _ := strings.Cut(t, " ")
		if w.place(params) > n {
			want = append(want, t)
		}
	}
	w.overRPC(func(c *rpcClient) {
		c.subscribe(n)
		for i := 0; i < len(want); i++ {
			m := c.read()
			if m.Method == "approval.requested" && w.place(string(m.Params)) <= n { // it waited at n, and is announced again
				i--
				continue
			}
			if got := m.Method + " " + string(m.Params); got != want[i] {
				w.fatalf("rpc behind %d: told %s, want %s", n, got, want[i])
			}
		}
	})
}

// place is the position of a notification.
func (w *stage) place(params string) harness.Seq {
	var at struct{ Seq harness.Seq }
	if err := json.Unmarshal([]byte(params), &at); err != nil {
		w.fatalf("rpc: %s: %v", params, err)
	}
	return at.Seq
}

// goesOnOverWebSocket is the same for who has put the state at n together: what
// it is told makes of it the state of who comes now.
func (w *stage) goesOnOverWebSocket(n, end harness.Seq) {
	w.t.Helper()
	m, fresh := &mirror{seq: n}, new(mirror)
	if err := m.tree.Apply(replace(w.states[n])); err != nil {
		w.fatalf("state at %d: %v", n, err)
	}
	w.mirror(m, end)
	w.mirror(fresh, end)
	if got, want := m.value(), fresh.value(); !reflect.DeepEqual(got, want) {
		w.fatalf("from %d over WebSocket: put together %s\nthe state is %s", n, m.tree.AppendJSON(nil), fresh.tree.AppendJSON(nil))
	}
}

// mirror is a WebSocket client's copy of the state.
type mirror struct {
	tree object.Tree
	seq  harness.Seq
}

// value is the state without what deltas clear and states leave out.
func (m *mirror) value() (v map[string]any) {
	json.Unmarshal(m.tree.AppendJSON(nil), &v) // nothing, before the first state
	maps.DeleteFunc(v, func(key string, x any) bool {
		list, ok := x.([]any)
		return key == "error" && x == nil || key == "pendingApprovals" && ok && len(list) == 0
	})
	return v
}

// mirror brings m up to a position.
func (w *stage) mirror(m *mirror, end harness.Seq) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, fmt.Sprintf("ws%s/ws?sessionId=%s&since=%d", strings.TrimPrefix(w.web.URL, "http"), w.session, m.seq), nil)
	if err != nil {
		w.fatalf("%v", err)
	}
	defer ws.CloseNow()
	for m.seq < end {
		var f struct {
			Type       string
			Seq        harness.Seq
			State      json.RawMessage
			Operations []object.Op
		}
		_, data, err := ws.Read(ctx)
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		switch {
		case err != nil:
		case f.Type == "hb":
			continue
		case f.Type == "state":
			f.Operations = replace(f.State)
		case f.Seq <= m.seq:
			w.fatalf("told %s at %d", data, m.seq)
		}
		if err == nil {
			err = m.tree.Apply(f.Operations)
		}
		if err != nil {
			w.fatalf("behind %d: %s: %v", m.seq, data, err)
		}
		m.seq = f.Seq
	}
}

// replace is the operation that a whole state comes to.
func replace(state json.RawMessage) []object.Op {
	return []object.Op{{Kind: object.Set, Path: []string{}, Value: state}}
}
