package public

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// TestANameIsJudgedByAllItsAddresses: one that is refused spoils the others,
// and what is dialled is what was judged.
func TestANameIsJudgedByAllItsAddresses(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	asked := 0
	g := New(nil)
	g.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		asked++
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("::ffff:127.0.0.1")}, nil
	}
	if _, err := g.Dial(t.Context(), "tcp", "rebind.example:"+port); !errors.Is(err, ErrAddress) {
		t.Errorf("got %v", err)
	}
	g.allow = func(netip.AddrPort) bool { return true }
	g.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		if asked++; asked > 2 {
			t.Error("the name is resolved again")
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	c, err := g.Dial(t.Context(), "tcp", "local.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for a, want := range map[string]bool{
		"93.184.216.34": true, "8.8.8.8": true, "2606:4700::1111": true, "64:ff9b::808:808": true, "::ffff:8.8.8.8": true, "172.32.0.1": true, "100.128.0.1": true,
		"64:ff9b::a9fe:a9fe": false, "::ffff:169.254.169.254": false, "100.127.255.255": false, "198.19.0.1": false, "fec0::1": false, "2001::1": false, "240.0.0.1": false,
	} {
		if got := Is(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
	if Is(netip.Addr{}) {
		t.Error("no address is public")
	}
}
