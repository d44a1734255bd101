package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness"
	ops "harness/internal/object"
	"harness/protocol/delta"
)

// socketsOf serves a house's sessions over WebSocket.
func socketsOf(t testing.TB, h *house) (*delta.Hub, *httptest.Server) {
	t.Helper()
	hub, err := delta.New(h.k, &delta.Options{Window: -1})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(hub)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		hub.Shutdown(ctx)
		web.Close()
	})
	return hub, web
}

// mirror is a WebSocket client's copy of the state.
type mirror struct {
	tree ops.Tree
	seq  uint64
	beat uint64 // where the server says it goes on
}

func (m *mirror) dial(addr string, id harness.SessionID) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, fmt.Sprintf("ws://%s/?sessionId=%s&since=%d", addr, id, m.seq), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(64 << 20)
	return ws, nil
}

// read takes one frame.
func (m *mirror) read(ws *websocket.Conn) (kind string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	_, data, err := ws.Read(ctx)
	if err != nil {
		return "", err
	}
	var f struct {
		Type       string
		Seq        uint64
		State      json.RawMessage
		Operations []ops.Op
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return "", err
	}
	switch f.Type {
	case "state":
		f.Operations = []ops.Op{{Kind: ops.Set, Path: []string{}, Value: f.State}}
	case "delta":
		if f.Seq <= m.seq {
			panic(fmt.Sprintf("a delta leads from %d to %d", m.seq, f.Seq))
		}
	case "hb":
		m.beat = f.Seq
		return f.Type, nil
	}
	if err := m.tree.Apply(f.Operations); err != nil {
		panic(fmt.Sprintf("%.200s: %v", data, err))
	}
	m.seq = f.Seq
	return f.Type, nil
}

func (m *mirror) value(t testing.TB) (v any) {
	t.Helper()
	if err := json.Unmarshal(m.tree.AppendJSON(nil), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// idle reports whether the turn is over.
func (m *mirror) idle() bool {
	if m.seq == 0 {
		return false
	}
	var s struct {
		Status   string
		Messages []struct{ Status string }
	}
	if json.Unmarshal(m.tree.AppendJSON(nil), &s) != nil || s.Status != "idle" {
		return false
	}
	n := len(s.Messages)
	return n > 1 && s.Messages[n-1].Status == "complete"
}
