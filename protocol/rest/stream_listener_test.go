package rest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// heard is an event that a client was told.
type heard struct{ id, name, data string }

// listener is an EventSource: it knows the last event that came whole.
type listener struct {
	t    testing.TB
	nc   net.Conn
	resp *http.Response
	br   *bufio.Reader
	path string
	last string
	said bool // something came
}

func (h *house) listen(query string, header ...string) *listener {
	h.t.Helper()
	l, err := listen(h.t, h.addr, query, "", header...)
	if err != nil {
		h.t.Fatal(err)
	}
	if l.resp.StatusCode != 200 {
		b, _ := io.ReadAll(l.br)
		h.t.Fatalf("GET %s: %s %s", query, l.resp.Status, b)
	}
	return l
}

// listen asks for a stream; last is sent as Last-Event-ID if there is one.
func listen(t testing.TB, addr, query, last string, header ...string) (*listener, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(soon))
	head := "GET /" + query + " HTTP/1.1\r\nHost: x\r\n"
	if last != "" {
		head += "Last-Event-ID: " + last + "\r\n"
	}
	for _, line := range header {
		head += line + "\r\n"
	}
	if _, err := io.WriteString(nc, head+"\r\n"); err != nil {
		nc.Close()
		return nil, err
	}
	l := &listener{t: t, nc: nc, br: bufio.NewReader(nc), path: query, last: last}
	if l.resp, err = http.ReadResponse(l.br, nil); err != nil {
		nc.Close()
		return nil, err
	}
	return l, nil
}

// next reads one event; comments are passed over, and the session event, which
// nothing may come before.
func (l *listener) next() (heard, error) {
	var e heard
	for {
		line, err := l.br.ReadString('\n')
		if err != nil {
			return heard{}, err
		}
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "retry":
		case "":
			if line != "\n" { // a comment
				continue
			}
			if e.id != "" {
				l.last = e.id
			}
			first := !l.said
			switch l.said = l.said || e.data != ""; {
			case e.data == "":
			case e.name != "session":
				return e, nil
			case !first || e.id != "":
				return heard{}, fmt.Errorf("a session event in the middle: %v", e)
			default:
				e = heard{}
			}
		default:
			return heard{}, fmt.Errorf("line %q", line)
		}
	}
}

func (l *listener) must() heard {
	l.t.Helper()
	e, err := l.next()
	if err != nil {
		l.t.Fatalf("behind event %s: %v", l.last, err)
	}
	return e
}

// until reads up to and with the first event of a kind.
func (l *listener) until(name string) (all []heard) {
	l.t.Helper()
	for {
		e := l.must()
		if all = append(all, e); e.name == name {
			return all
		}
	}
}

// rest reads up to the stream's end.
func (l *listener) rest() (all []heard) {
	l.t.Helper()
	for {
		e, err := l.next()
		if err == io.EOF {
			l.nc.Close()
			return all
		}
		if err != nil {
			l.t.Fatalf("behind event %s: %v", l.last, err)
		}
		all = append(all, e)
	}
}

// same compares what a client was told with what it should have been told.
func same(t testing.TB, what string, got, want []heard) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: event %d is\n%v\nwant\n%v", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d events, want %d", what, len(got), len(want))
	}
}
