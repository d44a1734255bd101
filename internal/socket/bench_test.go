//go:build linux

package socket

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkFanOut writes one shared frame of 204 bytes to 1,000 connections
// and, beside it, the same bytes with the bare system call: the floor.
func BenchmarkFanOut(b *testing.B) {
	frame := AppendText(nil, []byte(long(200)))
	conns := watchers(b, 1000)
	for _, c := range []struct {
		name  string
		write func(*Conn)
	}{
		{"Write", func(c *Conn) { c.Write(frame) }},
		{"syscall", func(c *Conn) { sendFD(c.fd, frame) }},
		{"unix.Write", func(c *Conn) { unix.Write(int(c.fd), frame) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			cpu := thread(b)
			for b.Loop() {
				for _, conn := range conns {
					c.write(conn)
				}
			}
			b.ReportMetric(float64(thread(b)-cpu)/float64(b.N*len(conns)), "cpu-ns/write")
		})
	}
}

// watchers are connections whose clients, in this process, throw everything
// away.
func watchers(b *testing.B, n int) []*Conn {
	o := newOwner(b)
	s, addr := quietServer(b, o, nil)
	var conns []*Conn
	for range n {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		io.WriteString(nc, hello)
		go func() {
			io.Copy(io.Discard, nc)
			nc.Close()
		}()
		conns = append(conns, receive(b, o.conns, "Opened"))
	}
	until(b, "all connected", func() bool { return s.Len() == n })
	return conns
}

// thread is the processor time this goroutine's thread has used, in ns.
func thread(b *testing.B) int64 {
	runtime.LockOSThread()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		msg  []byte
	}{{"200B", text(long(200))}, {"16kB", text(long(16000))}, {"8 fragments", fragments(200, 8)}} {
		b.Run(c.name, func(b *testing.B) {
			p := &parser{limit: 1 << 20, skip: 1 << 26}
			buf := make([]byte, len(c.msg))
			b.SetBytes(int64(len(c.msg)))
			b.ReportAllocs()
			for b.Loop() {
				copy(buf, c.msg)
				if ev, rest, fail := p.next(buf); ev.what != message || len(rest) > 0 || fail != nil {
					b.Fatal(ev, rest, fail)
				}
			}
		})
	}
}

func fragments(size, n int) []byte {
	all := client(1, false, long(size/n))
	for range n - 2 {
		all = append(all, client(0, false, long(size/n))...)
	}
	return append(all, client(0, true, long(size/n))...)
}

// BenchmarkExchange is one message to a parked connection and its answer.
func BenchmarkExchange(b *testing.B) {
	_, addr := quietServer(b, echo{}, nil)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	p := &peer{t: b, Conn: nc, br: bufio.NewReader(nc)}
	p.send([]byte(hello))
	if _, err := http.ReadResponse(p.br, nil); err != nil {
		b.Fatal(err)
	}
	msg, answer := text(long(200)), make([]byte, 204)
	for b.Loop() {
		p.send(msg)
		if _, err := io.ReadFull(p.br, answer); err != nil {
			b.Fatal(err)
		}
	}
}
