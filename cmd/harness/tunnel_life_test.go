package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"harness"
	"harness/gateway"
	"harness/kernel"
	"harness/store/memory"
)

// TestALineDoesNotOpenAfterTheEndOfItsCredential: who closes its connections may
// have looked before this one was there.
func TestALineDoesNotOpenAfterTheEndOfItsCredential(t *testing.T) {
	t.Parallel()
	k := kernel.New(memory.New(), nil, nil)
	defer k.Close()
	l := newLines(t.Context(), gateway.New(k, nil), slog.New(slog.DiscardHandler))
	defer l.shutdown()
	life := harness.NewLife(nil)
	life.End()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.ServeHTTP(w, r.WithContext(harness.WithCaller(r.Context(), harness.Caller{Name: "phone", User: "u", Role: harness.Operator, Life: life})))
	}))
	defer web.Close()
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	io.WriteString(conn, "GET /rpc HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: "+upgradeTo+"\r\n\r\n")
	if got, err := io.ReadAll(conn); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
}
