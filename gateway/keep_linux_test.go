package gateway_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"harness/gateway"
)

// TestAPeerThatVanishesIsNoticed is the half-open connection of attack 39: the
// system has been told to ask, and gives up within 45 seconds.
func TestAPeerThatVanishesIsNoticed(t *testing.T) {
	t.Parallel()
	l, err := gateway.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	raw, err := server.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	option := func(level, name int) (v int) {
		raw.Control(func(fd uintptr) { v, err = syscall.GetsockoptInt(int(fd), level, name) })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	idle, every, tries := option(syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE), option(syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL), option(syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT)
	if on := option(syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); on == 0 || idle == 0 || every == 0 || tries == 0 {
		t.Errorf("it is not asked: %d, %d s, %d s, %d times", on, idle, every, tries)
	}
	if d := time.Duration(idle+every*tries) * time.Second; d > 45*time.Second {
		t.Errorf("it is noticed after %s", d)
	}
}
