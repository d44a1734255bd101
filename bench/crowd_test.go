package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// crowd is many WebSocket clients in one thread: it reads what comes, walks
// the frame headers, counts, and looks at no payload beyond its first bytes.
type crowd struct {
	epoll int

	mu    sync.Mutex // guards what follows
	cond  *sync.Cond
	peers []*peer // in the order of dialling
	byFD  map[int]*peer
	total answer
}

// peer is one client.
type peer struct {
	fd      int
	kind    string
	size    int64
	skip    int64 // of the frame being read
	length  int64
	head    [96]byte // the frame's beginning, header included
	n       int      // bytes of it
	seq     int64
	texts   int64
	sampled bool
	came    int64 // when the bytes did that are looked at
	samples []sample
	record  bool
	raw     []byte
	stalled bool
	gone    bool
}

func runCrowd() error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	c := &crowd{epoll: epoll, byFD: make(map[int]*peer)}
	c.cond = sync.NewCond(&c.mu)
	go c.read()
	return serveAsks(c.do)
}

func (c *crowd) do(q ask) (answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch q.Do {
	case "dial":
		return c.dial(q)
	case "await": // every reading peer has got there
		if err := c.wait(func() bool { return c.all(func(p *peer) bool { return p.stalled || p.seq >= q.Total }) }); err != nil {
			return answer{}, err
		}
	case "states":
		if err := c.wait(func() bool { return c.total.States >= q.Total }); err != nil {
			return answer{}, err
		}
	case "heard": // each of these has read so many text frames
		peers := c.peers[q.First : q.First+q.N]
		err := c.wait(func() bool {
			return !slices.ContainsFunc(peers, func(p *peer) bool { return p.texts < q.Total })
		})
		if err != nil {
			return answer{}, err
		}
	case "stats":
	case "send":
		frame := maskedText(q.Text)
		for _, p := range c.peers[q.First : q.First+q.N] {
			if _, err := unix.Write(p.fd, frame); err != nil {
				return answer{}, err
			}
		}
	case "stall", "unstall":
		for _, p := range c.peers[q.First : q.First+q.N] {
			p.stalled = q.Do == "stall"
			event := unix.EpollEvent{Fd: int32(p.fd)}
			if !p.stalled {
				event.Events = unix.EPOLLIN
			}
			if err := unix.EpollCtl(c.epoll, unix.EPOLL_CTL_MOD, p.fd, &event); err != nil {
				return answer{}, err
			}
		}
	case "recorded":
		a := c.total
		for _, p := range c.peers {
			if p.record {
				a.Raw = append(a.Raw, p.raw)
			}
		}
		return a, nil
	case "sample":
		for _, p := range c.peers[q.First : q.First+q.N] {
			p.sampled, p.samples = true, nil
		}
	case "samples":
		a := c.total
		for _, p := range c.peers {
			a.Samples = append(a.Samples, p.samples...)
			p.samples = nil
		}
		return a, nil
	case "hangup":
		for _, p := range c.peers {
			if !p.gone {
				unix.Close(p.fd)
			}
		}
		c.peers, c.total = nil, answer{}
		clear(c.byFD)
	case "reset":
		states := c.total.States
		c.total = answer{States: states}
	default:
		return answer{}, errors.New("unknown request")
	}
	return c.count(), nil
}

// count is the totals now.
func (c *crowd) count() answer {
	a := c.total
	a.At = monotonic()
	for _, p := range c.peers {
		a.Seq = max(a.Seq, p.seq)
	}
	return a
}

// waitFor bounds how long anything may take to arrive.
const waitFor = 30 * time.Second

// wait waits for a condition that reading brings about. mu is held.
func (c *crowd) wait(ok func() bool) error {
	late := false
	defer time.AfterFunc(waitFor, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.cond.Broadcast()
	}).Stop()
	for !ok() {
		switch {
		case c.total.Closed > 0:
			return fmt.Errorf("%d connections ended", c.total.Closed)
		case late:
			return fmt.Errorf("waited %s in vain: %+v", waitFor, c.total)
		}
		c.cond.Wait()
	}
	return nil
}

func (c *crowd) all(f func(*peer) bool) bool {
	for _, p := range c.peers {
		if !f(p) {
			return false
		}
	}
	return true
}

// dial opens connections one after the other. mu is held; frames that come
// meanwhile wait.
func (c *crowd) dial(q ask) (answer, error) {
	for i := range q.N {
		path := q.Path
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, q.First+i)
		}
		fd, err := handshake(q.Addr, path, q.Token, q.Buffer)
		if err != nil {
			return answer{}, fmt.Errorf("connection %d: %w", i, err)
		}
		p := &peer{fd: fd, kind: q.Kind, size: int64(q.Size), record: i < q.Record}
		c.peers = append(c.peers, p)
		c.byFD[fd] = p
		if q.Kind == "centrifuge" {
			hello := append(maskedText(`{"id":1,"connect":{}}`), maskedText(`{"id":2,"subscribe":{"channel":"c"}}`)...)
			if _, err := unix.Write(fd, hello); err != nil {
				return answer{}, err
			}
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return answer{}, err
		}
		if err := unix.EpollCtl(c.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return answer{}, err
		}
	}
	return c.total, nil
}

// read is the loop of the crowd.
func (c *crowd) read() {
	events := make([]unix.EpollEvent, 256)
	buf := make([]byte, 256<<10)
	for {
		n, err := unix.EpollWait(c.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			panic(err)
		}
		c.mu.Lock()
		for _, e := range events[:max(0, n)] {
			p := c.byFD[int(e.Fd)]
			if p == nil || p.stalled {
				continue
			}
			got, err := unix.Read(p.fd, buf)
			switch {
			case err == unix.EAGAIN || err == unix.EINTR:
			case err != nil || got == 0:
				p.gone = true
				c.total.Closed++
				unix.Close(p.fd)
				delete(c.byFD, p.fd)
			default:
				if p.sampled {
					p.came = monotonic() // before it is looked into
				}
				c.total.Bytes += int64(got)
				if p.record {
					p.raw = append(p.raw, buf[:got]...)
				}
				c.walk(p, buf[:got])
			}
		}
		c.cond.Broadcast()
		c.mu.Unlock()
	}
}

// walk goes over the frames in b.
func (c *crowd) walk(p *peer, b []byte) {
	for len(b) > 0 {
		if p.skip == 0 { // in a header, or in the first bytes behind it
			n := copy(p.head[p.n:], b[:min(len(b), p.want())])
			p.n += n
			b = b[n:]
			if p.want() == 0 {
				p.skip = p.length - int64(p.n)
				if p.skip == 0 {
					c.ended(p)
				}
			}
			continue
		}
		n := min(int64(len(b)), p.skip)
		p.skip -= n
		b = b[n:]
		if p.skip == 0 {
			c.ended(p)
		}
	}
}

// want is how many more bytes of the frame's beginning are needed; it sets
// length, header included, as soon as that is known.
func (p *peer) want() int {
	if p.n < 2 {
		return 2 - p.n
	}
	header := 2
	switch p.head[1] {
	case 126:
		header = 4
	case 127:
		header = 10
	}
	if p.n < header {
		return header - p.n
	}
	switch header {
	case 2:
		p.length = 2 + int64(p.head[1])
	case 4:
		p.length = 4 + int64(binary.BigEndian.Uint16(p.head[2:]))
	case 10:
		p.length = 10 + int64(binary.BigEndian.Uint64(p.head[2:]))
	}
	return int(min(p.length, 64)) - p.n
}

// ended counts a frame that is there to its end.
func (c *crowd) ended(p *peer) {
	defer func() { p.n = 0 }()
	c.total.Frames++
	header := 2
	if p.head[1] == 126 {
		header = 4
	} else if p.head[1] == 127 {
		header = 10
	}
	if p.head[0]&0x0f != 1 {
		return // control
	}
	p.texts++
	text := p.head[header:p.n]
	body := p.length - int64(header)
	switch p.kind {
	case "centrifuge": // messages of one size, joined by newlines
		if bytes.HasPrefix(text, []byte(`{"push":`)) {
			n := (body + 1) / (p.size + 1)
			p.seq += n
			c.total.Deltas += n
		} else {
			c.total.States++
		}
	case "plain":
		p.seq++
		c.total.Deltas++
		p.sample()
	case "harness": // a delta takes the client from one seq to the next
		seq := seqIn(text)
		switch {
		case bytes.HasPrefix(text, []byte(`{"type":"delta"`)):
			c.total.Deltas += seq - p.seq
			p.seq = seq
			p.sample()
		case bytes.HasPrefix(text, []byte(`{"type":"state"`)):
			c.total.States++
			p.seq = seq
		}
	}
}

// sample notes when the peer came to where it is.
func (p *peer) sample() {
	if p.sampled {
		p.samples = append(p.samples, sample{p.seq, p.came})
	}
}

func seqIn(text []byte) int64 {
	_, after, ok := bytes.Cut(text, []byte(`"seq":`))
	if !ok {
		return 0
	}
	n := int64(0)
	for _, d := range after {
		if d < '0' || d > '9' {
			break
		}
		n = 10*n + int64(d-'0')
	}
	return n
}

// handshake opens a blocking socket and upgrades it. Nothing behind the
// answer's headers is read. buffer is the size of the receive buffer; 0 lets the
// kernel choose.
func handshake(addr, path, token string, buffer int) (int, error) {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if buffer > 0 {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer); err != nil {
			return -1, err
		}
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}); err != nil {
		return -1, err
	}
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if _, err := unix.Write(fd, request(addr, path, token)); err != nil {
		return -1, err
	}
	var head []byte
	buf := make([]byte, 4<<10)
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		// Look first, take only up to the end of the headers.
		n, _, err := unix.Recvfrom(fd, buf, unix.MSG_PEEK)
		if err != nil || n == 0 {
			return -1, fmt.Errorf("handshake: %q: %w", head, errors.Join(err, net.ErrClosed))
		}
		if end := bytes.Index(append(head, buf[:n]...), []byte("\r\n\r\n")); end >= 0 {
			n = end + 4 - len(head)
		}
		got, err := unix.Read(fd, buf[:n])
		if err != nil {
			return -1, err
		}
		head = append(head, buf[:got]...)
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101")) {
		return -1, fmt.Errorf("handshake: %q", head)
	}
	return fd, nil
}

func request(addr, path, token string) []byte {
	if token != "" {
		token = "Authorization: Bearer " + token + "\r\n"
	}
	return []byte("GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\n" + token + "Connection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
}

// maskedText is a client's text frame with a mask of zeros.
func maskedText(s string) []byte {
	b := []byte{0x81}
	switch n := len(s); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	return append(append(b, 0, 0, 0, 0), s...)
}
