package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errFlood ends a server for good.
var errFlood = errors.New("it sends far more than it is asked for")

// wire is a connection with a process, a message a line. It stands between the
// server and the SDK, whose queues have no bound: what nobody waits for ends
// here, and is counted.
type wire struct {
	in   *os.File // the server's input
	out  *io.PipeReader
	read *bufio.Reader
	said *tail
	end  context.CancelCauseFunc // ends the process; the first cause counts
	// heard gets the notifications that matter here, in their place among the
	// answers; the SDK would hand them over when it finds the time.
	heard func(method string, params json.RawMessage)

	queue []queued // of a batch; only Read touches it

	writing sync.Mutex // held for one message

	mu      sync.Mutex // guards what follows
	unasked allowance
	waiting map[jsonrpc.ID]bool // calls without an answer
}

type queued struct {
	msg  jsonrpc.Message
	size int
}

func newWire(l *link, in *os.File, out *io.PipeReader) *wire {
	return &wire{in: in, out: out, read: bufio.NewReaderSize(out, 64<<10), said: l.said, end: l.end, heard: l.heard,
		unasked: newAllowance(time.Now()), waiting: map[jsonrpc.ID]bool{}}
}

// Connect makes the wire its own transport.
func (w *wire) Connect(context.Context) (sdk.Connection, error) { return w, nil }

// SessionID is empty: a process is its own session.
func (w *wire) SessionID() string { return "" }

// Read returns the next message that somebody has a use for.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		for len(w.queue) > 0 {
			next := w.queue[0]
			w.queue = w.queue[1:]
			wanted, err := w.judge(next)
			if err != nil {
				return nil, w.fail(err)
			}
			if wanted {
				return next.msg, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := w.line()
		if err != nil {
			return nil, w.fail(err)
		}
		if w.queue, err = decode(line); err != nil {
			// Programs print to stdout what belongs on stderr. It does no harm in measure.
			_, _ = w.said.Write(append(line, '\n'))
			if err := w.charge(1, len(line)); err != nil {
				return nil, w.fail(err)
			}
		}
	}
}

// line reads up to a newline, and no more than maxLine.
func (w *wire) line() ([]byte, error) {
	var line []byte
	for {
		part, err := w.read.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("%w: a message of more than %d MB", errFlood, maxLine>>20)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		default:
			if line = bytes.TrimSpace(line); len(line) > 0 {
				return line, nil
			}
			if err := w.charge(1, len(part)); err != nil {
				return nil, err
			}
			line = nil
		}
	}
}

// decode reads one message, or a batch, which older servers send.
func decode(line []byte) ([]queued, error) {
	if line[0] != '[' {
		msg, err := jsonrpc.DecodeMessage(line)
		return []queued{{msg, len(line)}}, err
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return nil, err
	}
	var all []queued
	for _, p := range parts {
		msg, err := jsonrpc.DecodeMessage(p)
		if err != nil {
			return nil, err
		}
		all = append(all, queued{msg, len(p)})
	}
	return all, nil
}

// judge reports whether a message has a reader.
func (w *wire) judge(q queued) (bool, error) {
	switch m := q.msg.(type) {
	case *jsonrpc.Response:
		w.mu.Lock()
		asked := w.waiting[m.ID]
		delete(w.waiting, m.ID)
		w.mu.Unlock()
		if asked {
			return true, nil
		}
		return false, w.charge(1, q.size)
	case *jsonrpc.Request:
		if err := w.charge(1, q.size); err != nil || m.IsCall() {
			return true, err // the SDK answers calls
		}
		w.heard(m.Method, m.Params)
	}
	return false, nil
}

// charge counts what was not asked for.
func (w *wire) charge(messages, bytes int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.unasked.take(time.Now(), messages, bytes) {
		return errFlood
	}
	return nil
}

// Write sends a message, or ends the server if it does not read.
func (w *wire) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if r, ok := msg.(*jsonrpc.Request); ok {
		w.expect(r)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_ = w.in.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := w.in.Write(append(data, '\n')); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = errors.New("it does not read its input")
		}
		// A process that died says why itself, and better.
		if !errors.Is(err, os.ErrClosed) && !isPipe(err) {
			w.end(err)
		}
		return err
	}
	return nil
}

// expect notes that an answer is asked for, or no longer.
func (w *wire) expect(r *jsonrpc.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.IsCall() {
		w.waiting[r.ID] = true
		return
	}
	var cancelled struct {
		ID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &cancelled) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(cancelled.ID); err == nil {
		delete(w.waiting, id)
	}
}

// fail ends the process for a reason and returns it.
func (w *wire) fail(err error) error {
	w.end(err)
	w.out.CloseWithError(err)
	return err
}

// Close ends the process, if it has not ended.
func (w *wire) Close() error {
	w.end(errClosed)
	w.out.Close()
	_ = w.in.Close()
	return nil
}

// chatter is a server's stderr: its end is kept, all of it is counted.
type chatter struct{ *wire }

func (c chatter) Write(p []byte) (int, error) {
	if err := c.charge(0, len(p)); err != nil {
		return 0, c.fail(err)
	}
	return c.said.Write(p)
}
