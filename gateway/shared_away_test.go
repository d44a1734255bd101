package gateway_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/gateway"
	"harness/store/memory"
)

// away is a database that can be away: it fails at once, or does not answer.
type away struct {
	gateway.Shared
	how atomic.Value // "", "fails" or "hangs"
}

func (a *away) Place(ctx context.Context, name string, known uint64) (harness.Place, error) {
	switch a.how.Load() {
	case "fails":
		return harness.Place{}, harness.ErrStorage
	case "hangs":
		<-ctx.Done()
		return harness.Place{}, ctx.Err()
	}
	return a.Shared.Place(ctx, name, known)
}

// complaints are what was said.
type complaints struct {
	mu  sync.Mutex // guards all
	all []string
}

func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, string(b))
	return len(b), nil
}

func (c *complaints) about(word string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.all {
		if strings.Contains(s, word) {
			n++
		}
	}
	return n
}

// TestADatabaseThatIsAwayIsToldAndWhatItHadToSayIsHeardLater: that of tokens and
// logins nothing arrives any more is an alarm, whether it fails or hangs; and a
// revocation that came meanwhile arrives when it is back, though no bell rings
// for it a second time. A server that stops has no alarm.
func TestADatabaseThatIsAwayIsToldAndWhatItHadToSayIsHeardLater(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"fails", "hangs"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dirs := []string{t.TempDir(), t.TempDir()}
			synctest.Test(t, func(t *testing.T) {
				depot := memory.NewDepot()
				way, said := &away{Shared: depot}, &complaints{}
				if _, err := gateway.AddSharedToken(t.Context(), depot, gateway.Token{Name: "bob", User: "bob", Role: harness.Operator}); err != nil {
					t.Fatal(err)
				}
				names, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7000}, false)
				if err != nil {
					t.Fatal(err)
				}
				var revoked atomic.Int32
				logins := gateway.NewLogins(names, nil)
				tokens := openTokens(t, dirs[0], &gateway.TokenOptions{Shared: way, Server: "a", Log: slog.New(slog.NewTextHandler(said, nil)), OnRevoke: func(string) { revoked.Add(1) }})
				if err := logins.Share(t.Context(), way, tokens.Named, func(err error) { said.Write([]byte(err.Error())) }); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				var following sync.WaitGroup
				following.Go(func() { tokens.Follow(ctx) })
				following.Go(func() { logins.Follow(ctx) })
				other := newSharing(t, depot, "b", dirs[1])
				synctest.Wait()

				way.how.Store(how)
				begin(t, other.logins, harness.Caller{Name: "ada@provider", User: "ada", Role: harness.Viewer})
				if err := gateway.RemoveSharedToken(t.Context(), depot, "bob"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // sleep: the clock of synctest
				synctest.Wait()
				if said.about("shared tokens not read") == 0 || said.about("logins: ") == 0 {
					t.Errorf("it said only %q", said.all)
				}
				if revoked.Load() > 0 || logins.Len() > 0 {
					t.Error("it heard of what it could not read")
				}

				way.how.Store("")
				time.Sleep(time.Minute) // sleep: the clock of synctest
				synctest.Wait()
				if revoked.Load() != 1 || logins.Len() != 1 {
					t.Errorf("later it knows of %d revocations, %d logins", revoked.Load(), logins.Len())
				}
				n := len(said.all)
				time.Sleep(time.Minute) // sleep: the clock of synctest
				synctest.Wait()
				if len(said.all) != n {
					t.Errorf("it complains of a database that is there: %q", said.all[n:])
				}

				way.how.Store("hangs")
				begin(t, other.logins, harness.Caller{Name: "eve@provider", User: "eve", Role: harness.Viewer})
				if _, err := gateway.AddSharedToken(t.Context(), depot, gateway.Token{Name: "eve", User: "eve", Role: harness.Operator}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // both ask
				stop()
				following.Wait()
				if len(said.all) != n {
					t.Errorf("a server that stops complains: %q", said.all[n:])
				}
				other.stop()
			})
		})
	}
}
