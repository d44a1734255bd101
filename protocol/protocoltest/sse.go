package protocoltest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"harness"
)

// follower reads a session's event stream as an EventSource does: when it was
// cut it comes back with the last id that it heard.
type follower struct {
	stage *stage
	id    harness.SessionID
	last  harness.Seq
	told  []string // the whole text of each event
	leave func()   // nil: it is not connected
	lines *bufio.Scanner
}

// follow has the story's session followed and what is durable of it by now
// read. Until a first command there may be none.
func (w *stage) follow() {
	w.t.Helper()
	end := harness.Seq(len(w.events()))
	if end == 0 {
		return
	}
	if w.sse == nil || w.sse.id != w.session {
		w.unfollow()
		w.sse = &follower{stage: w, id: w.session}
	}
	w.sse.upTo(end)
}

// unfollow cuts the stream.
func (w *stage) unfollow() {
	if w.sse != nil && w.sse.leave != nil {
		w.sse.leave()
		w.sse.leave = nil
	}
}

// upTo reads up to and with an event that is durable.
func (f *follower) upTo(end harness.Seq) {
	f.stage.t.Helper()
	if f.leave == nil {
		f.connect()
	}
	for f.last < end {
		text := f.read()
		f.last++
		f.told = append(f.told, text)
	}
}

// connect goes on behind the last event that was heard, and is told first of
// which session.
func (f *follower) connect() {
	f.stage.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/sessions/%s/events/stream", f.stage.http.URL, f.id), nil)
	if err != nil {
		f.stage.fatalf("sse: %v", err)
	}
	if f.last > 0 {
		req.Header.Set("Last-Event-ID", fmt.Sprint(f.last))
	}
	late := time.AfterFunc(patience, cancel)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		cancel()
		f.stage.fatalf("sse: %v %v", resp, err)
	}
	late.Stop()
	f.leave = func() {
		cancel()
		resp.Body.Close()
	}
	f.lines = bufio.NewScanner(resp.Body)
	f.lines.Buffer(nil, 4<<20)
	if text := f.read(); !strings.Contains(text, "event: session\n") || !strings.Contains(text, string(f.id)) || strings.Contains(text, "id: ") {
		f.stage.fatalf("sse: the stream begins with %q", text)
	}
}

// read is the text of one event; comments are passed over.
func (f *follower) read() string {
	f.stage.t.Helper()
	late := time.AfterFunc(patience, f.leave)
	defer late.Stop()
	var b strings.Builder
	for f.lines.Scan() {
		switch line := f.lines.Text(); {
		case line != "" && line[0] != ':':
			fmt.Fprintln(&b, line)
		case line == "" && b.Len() > 0:
			return b.String()
		}
	}
	f.stage.fatalf("sse: behind %d: %v", f.last, f.lines.Err())
	return ""
}

// streamed checks that event streams told the log, byte for byte: to who
// followed all the time, and to who comes at the end.
func (w *stage) streamed() {
	w.t.Helper()
	w.follow()
	if w.sse == nil {
		return
	}
	w.sse.tells(w.events())
	late := &follower{stage: w, id: w.session}
	defer func() { late.leave() }()
	late.upTo(w.sse.last)
	late.tells(w.events())
}

// tells compares what was heard with the end of a log that it reaches to.
func (f *follower) tells(log []harness.Event) {
	f.stage.t.Helper()
	log = log[int(f.last)-len(f.told) : f.last]
	for i, e := range log {
		if want := fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n", e.Seq, e.Type(), e.JSON()); f.told[i] != want {
			f.stage.fatalf("sse told\n%sthe log has\n%s", f.told[i], want)
		}
	}
}
