package agenttest_test

import (
	"net"
	"testing"

	"harness/engine/agenttest"
)

// TestNobodyCanBeCalledFromThere but who listens there, too.
func TestNobodyCanBeCalledFromThere(t *testing.T) {
	t.Parallel()
	if !agenttest.Alone(t) {
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() {
			t.Skipf("this machine has no namespaces: %s", a)
		}
	}
}
