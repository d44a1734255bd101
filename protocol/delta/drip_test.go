package delta_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"harness"
	"harness/internal/socket"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// noting is a kernel that takes down what clients are refused.
type noting struct {
	*kernel.Kernel
	notes chan harness.Refusal
}

func (n *noting) Asked(ctx context.Context) context.Context    { return ctx }
func (n *noting) Refused(_ context.Context, f harness.Refusal) { n.notes <- f }

// TestAMessageThatDripsEndsWith1008: a byte every now and then does not keep an
// unfinished message, the end is taken down once, and others go on.
func TestAMessageThatDripsEndsWith1008(t *testing.T) {
	t.Parallel()
	k := kernel.New(memory.New(), nil, nil)
	defer k.Close()
	n := &noting{k, make(chan harness.Refusal, 10)}
	hub, err := delta.New(n, &delta.Options{Socket: socket.Options{MessageFor: 300 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Shutdown(context.WithoutCancel(t.Context()))
	web := httptest.NewServer(hub)
	defer web.Close()
	sv := &server{t: t, k: k, hub: hub, web: web, url: "ws" + strings.TrimPrefix(web.URL, "http") + "/ws"}
	slow, good := sv.raw("?userId=u", 0), sv.raw("?userId=u", 0)
	slow.nc.Write([]byte{0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0, '{'}) // 64 kB are to come
	over, dripped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(dripped)
		clock := time.NewTicker(10 * time.Millisecond)
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				slow.nc.Write([]byte{' '}) // fails at the end
			case <-over:
				return
			}
		}
	}()
	for {
		h, b, err := slow.next()
		if err != nil {
			t.Fatal(err)
		}
		if h.OpCode == ws.OpClose {
			if code, _ := ws.ParseCloseFrameData(b); code != 1008 {
				t.Errorf("closed with %d", code)
			}
			break
		}
	}
	close(over)
	<-dripped
	if f := <-n.notes; f.What != "websocket message" || f.Code != harness.ErrInvalid.Code {
		t.Errorf("taken down: %+v", f)
	}
	if err := good.send(ws.OpPing, []byte("there?")); err != nil {
		t.Fatal(err)
	}
	for {
		h, _, err := good.next()
		if err != nil {
			t.Fatal(err)
		}
		if h.OpCode == ws.OpPong {
			break
		}
	}
	if len(n.notes) > 0 {
		t.Errorf("and then %+v", <-n.notes)
	}
}
