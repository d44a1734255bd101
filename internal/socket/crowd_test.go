//go:build linux

package socket

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// TestMain lets the test binary be its own crowd: a child process with many
// clients, because both ends of 10,000 connections are more descriptors than
// one process may have.
func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv("HARNESS_TEST_CROWD")); err == nil {
		if err := beCrowd(os.Getenv("HARNESS_TEST_ADDR"), n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beCrowd connects n clients; each sends one message and reads one answer.
// Then it says so and holds the connections until its input ends.
func beCrowd(addr string, n int) error {
	msg := text(long(200))
	answer := make([]byte, 4<<10)
	var held []net.Conn // an unreachable net.Conn is closed by the collector
	defer func() { runtime.KeepAlive(held) }()
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		held = append(held, c)
		if _, err := c.Write([]byte(hello)); err != nil {
			return err
		}
		for head := 0; !bytes.HasSuffix(answer[:head], []byte("\r\n\r\n")); head++ {
			if _, err := io.ReadFull(c, answer[head:head+1]); err != nil {
				return err
			}
		}
		if _, err := c.Write(msg); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, answer[:204]); err != nil {
			return err
		}
	}
	fmt.Println("connected")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// crowd starts n clients of addr in a child process and returns when all of
// them have had their answer.
func crowd(t testing.TB, addr string, n int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), "HARNESS_TEST_ADDR="+addr, "HARNESS_TEST_CROWD="+strconv.Itoa(n))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		child.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("crowd of %d: %q, %v", n, line, err)
	}
}

// quietServer is serve without httptest, which keeps a table of connections.
func quietServer(t testing.TB, h Handler, opts *Options) (*Server, string) {
	t.Helper()
	s, err := New(h, opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Upgrade(w, r, "", nil)
	})}
	ended := make(chan error)
	go func() { ended <- web.Serve(l) }()
	t.Cleanup(func() {
		web.Close()
		<-ended
		s.Shutdown(t.Context())
	})
	return s, l.Addr().String()
}

// echo answers every message and is silent otherwise.
type echo struct{}

func (echo) Opened(*Conn)                 {}
func (echo) Message(c *Conn, text []byte) { c.Write(AppendText(nil, text)) }
func (echo) Refused(*Conn, Refusal)       {}
func (echo) Writable(*Conn)               {}
func (echo) Closed(*Conn, error)          {}

// In CI there are ten thousand.
func TestIdleConnectionsCostTableRows(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has its own memory per object")
	}
	const most = 400
	n := 3_000
	if os.Getenv("LONG")+os.Getenv("CI") != "" {
		n = 10_000
	}
	s, addr := quietServer(t, echo{}, nil)
	crowd(t, addr, 500) // what the first connections allocate for all
	until(t, "first workers gone", func() bool { return idleWorkers(s) })
	goroutines, before := runtime.NumGoroutine(), resident(t)

	crowd(t, addr, n-500)
	until(t, "workers gone", func() bool { return s.Len() == n && idleWorkers(s) })
	until(t, "no goroutine left by a connection", func() bool { return runtime.NumGoroutine() <= goroutines })
	raw := residentNow(t)
	after := resident(t)
	per := (after - before) / (n - 500)
	t.Logf("%d connections: %d B each after a trim (%d B before it), %d goroutines in all", n, per, (raw-before)/(n-500), runtime.NumGoroutine())
	if per > most {
		t.Errorf("a parked connection costs %d B, want at most %d", per, most)
	}
}

func TestRowIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Conn{}); size > 128 {
		t.Errorf("a Conn has %d bytes, want at most 128 (the allocator's size class)", size)
	}
}

func idleWorkers(s *Server) bool {
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	return s.workers == 0
}

// resident is the process's memory after a trim, in bytes: what the idle loop
// does by itself after a burst.
func resident(t testing.TB) int {
	runtime.GC() // pools keep their content for one collection
	debug.FreeOSMemory()
	return residentNow(t)
}

func residentNow(t testing.TB) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func TestBurstIsTrimmedOnceFromTheIdleLoop(t *testing.T) {
	s, addr := quietServer(t, echo{}, &Options{PingAfter: 100 * time.Second, StallAfter: 200 * time.Millisecond})
	crowd(t, addr, trimBurst)
	until(t, "trim", func() bool { return s.opened.Load() == 0 })
}
