package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"harness"
	"harness/gateway"
	"harness/kernel"
)

// instant is a kernel whose commands take no time, so that what is measured is
// the gate.
type instant struct{ *kernel.Kernel }

func (instant) Do(context.Context, harness.SessionID, harness.Command) (harness.Receipt, error) {
	return harness.Receipt{}, nil
}

func BenchmarkGateDo(b *testing.B) {
	w := newWorld(b)
	var cmd harness.Command = harness.Pause{}
	for _, role := range []harness.CallerRole{harness.Operator, harness.Admin} {
		b.Run(string(role), func(b *testing.B) {
			g := gateway.New(instant{w.k}, &gateway.Options{Quotas: gateway.Quotas{CommandBurst: 1 << 40}})
			ctx := as(b, "alice", role)
			id := w.create("alice")
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := g.Do(ctx, id, cmd); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func TestOwnersAreBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes 20,000 sessions")
	}
	w := newWorld(t, gateway.Quotas{Sessions: -1, CommandBurst: -1})
	ctx := as(t, "alice", harness.Operator)
	for i := range gateway.MaxOwners + 4000 {
		if _, err := w.g.Create(ctx, harness.NewSession{ID: harness.SessionID(fmt.Sprintf("s%d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.g.Owners(); n > gateway.MaxOwners || n < gateway.MaxOwners/2 {
		t.Errorf("%d owners are remembered, the bound is %d", n, gateway.MaxOwners)
	}
	if err := w.g.Allow(ctx, gateway.Read, "s0"); err != nil { // forgotten, and looked up again
		t.Error(err)
	}
	if err := w.g.Allow(as(t, "bob", harness.Operator), gateway.Read, "s1"); !errors.Is(err, harness.ErrNotFound) {
		t.Error(err)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	s := newSite(b, gateway.AuthOptions{}, gateway.EdgeOptions{})
	for name, token := range map[string]string{"right": s.token, "wrong": s.token[:40] + "xxxxxx"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "http://"+s.host+"/look", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.auth.Authenticate(r); (err == nil) != (name == "right") {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEdge is everything that a request meets before its handler.
func BenchmarkEdge(b *testing.B) {
	s := newSite(b, gateway.AuthOptions{}, gateway.EdgeOptions{CallerBurst: 1 << 40})
	r := httptest.NewRequest("GET", "http://"+s.host+"/look", nil)
	r.Header.Set("Authorization", "Bearer "+s.token)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		if s.edge.ServeHTTP(w, r); w.Code != 200 {
			b.Fatal(w.Code)
		}
	}
}
