//go:build linux

package socket

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkFanOut writes one shared frame of 204 bytes to 1,000 connections
// and, in turn with it, the same bytes with the bare system call: the floor.
func BenchmarkFanOut(b *testing.B) {
	frame := AppendText(nil, []byte(long(200)))
	conns := watchers(b, 1000)
	ways := [...]func(*Conn){
		func(c *Conn) { c.Write(frame) },
		func(c *Conn) { sendFD(c.fd, frame) },
		func(c *Conn) { unix.Write(int(c.fd), frame) },
	}
	var cpu [len(ways)]int64
	b.ReportAllocs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		for i, write := range ways {
			start := threadTime(b)
			for _, c := range conns {
				write(c)
			}
			cpu[i] += threadTime(b) - start
		}
	}
	b.ReportMetric(float64(cpu[0])/float64(b.N*len(conns)), "cpu-ns/Write")
	b.ReportMetric(float64(cpu[0])/float64(cpu[1]), "x-bare-syscall")
	b.ReportMetric(float64(cpu[2])/float64(cpu[1]), "unix.Write-x-bare-syscall")
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

// threadTime is the processor time this thread has used, in ns.
func threadTime(b *testing.B) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		b.Fatal(err)
	}
	return now.Nano()
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

// BenchmarkSweep is one look at 10,000 idle rows, which happens once a second.
func BenchmarkSweep(b *testing.B) {
	s := &Server{start: time.Now(), timing: newTiming((*Options)(nil).withDefaults(&frames))}
	for range 10_000 {
		s.admit(&Conn{srv: s})
	}
	for b.Loop() {
		s.each(s.look)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/row")
}
