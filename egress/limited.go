package egress

import (
	"net"
	"sync"
)

// limited is a listener that has so many connections at a time; others wait to
// be accepted.
type limited struct {
	net.Listener
	slots  chan struct{} // as many as there may be
	closed chan struct{}
	once   sync.Once
}

func limit(l net.Listener, n int) *limited {
	return &limited{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &counted{Conn: c, leave: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// counted is a connection that gives its slot back.
type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

// halfCloser is a connection of which one direction can be ended.
type halfCloser interface{ CloseWrite() error }

// closeWrite ends the direction away from us, if that can be done alone.
func closeWrite(c net.Conn) {
	if n, ok := c.(*counted); ok {
		c = n.Conn
	}
	if h, ok := c.(halfCloser); ok {
		_ = h.CloseWrite()
	} else {
		_ = c.Close()
	}
}
