package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"sync"
	"time"

	"harness"
	"harness/internal/shape"
)

// sessions is what this protocol needs of the server.
type sessions interface {
	Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error)
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	Watch(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error]
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
	At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error)
	Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error]
	Revoke(ctx context.Context, id harness.RuleID) error
}

// Options are the settings of a connection. The zero value works.
type Options struct {
	Log     *slog.Logger // default: discard
	Version string       // what initialize answers
	User    string       // whose threads these are; empty: everybody's

	Rewinds bool // snapshots of files are kept, so that thread.rewind works

	// Linger is how long the client is still told of turns that run when its
	// input ends. Default: not at all.
	Linger time.Duration
}

// conn is one client. One goroutine reads its requests and carries them out,
// one for each thread tells what happens there, one writes.
type conn struct {
	k    sessions
	opts Options
	log  *slog.Logger
	out  *writer

	telling context.Context // of those who tell
	tellers sync.WaitGroup
	methods []method
	hello   []byte // the result of initialize
	follows map[harness.SessionID]*follower
	turned  *projector // behind the last page of thread.get, if the log goes on
}

// Serve answers requests from r on w until r ends, w fails or ctx is done. What
// was asked before r ended is answered. Serve returns when everything it
// started is gone; threads go on without it. It cannot interrupt a Read or
// Write that blocks: whoever ends ctx closes the streams as well.
func Serve(ctx context.Context, k sessions, r io.Reader, w io.Writer, opts *Options) error {
	c := &conn{k: k, methods: methods(), follows: map[harness.SessionID]*follower{}}
	if opts != nil {
		c.opts = *opts
	}
	c.log = c.opts.Log
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.out = newWriter(w, cancel)
	var writing sync.WaitGroup
	writing.Go(func() { c.out.run(ctx) })
	var hush context.CancelFunc
	c.telling, hush = context.WithCancel(ctx)
	err := c.read(ctx, r)
	if err == nil {
		c.linger(ctx)
	}
	hush()
	c.tellers.Wait()
	c.out.finish()
	writing.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, errWrite) {
		return cause
	}
	return err
}

// read handles line after line, in order.
func (c *conn) read(ctx context.Context, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line, out []byte
	for ctx.Err() == nil {
		var long bool
		var err error
		line, long, err = readLine(lines, line[:0])
		if long {
			c.refused(c.asked(ctx), "line", tooLong)
			out = append(appendAnswer(out[:0], nil, nil, tooLong), '\n')
			c.out.send(ctx, out)
		} else if text := trim(line); len(text) > 0 {
			out = c.handle(ctx, text, out[:0])
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read requests: %w", err)
		}
		if cap(line) > 64<<10 {
			line = nil
		}
		if cap(out) > 64<<10 {
			out = nil
		}
	}
	return nil
}

var tooLong = &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("the line is longer than %d bytes", maxLine), Data: &errorData{Code: harness.ErrTooLarge.Code}}

// readLine reads up to a line's end into line. A line over the limit is
// skipped, in bounded memory.
func readLine(r *bufio.Reader, line []byte) (_ []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			long, line = true, line[:0]
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// trim takes the white space off that may surround a message; a line of it
// alone is no message.
func trim(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// handle answers one line: each request by itself, a batch with one array. It
// returns the buffer it was given, perhaps grown.
func (c *conn) handle(ctx context.Context, line, out []byte) []byte {
	var x exchange
	defer x.release()
	calls, batch := parse(line)
	if batch {
		out = append(out, '[')
	}
	for _, call := range calls {
		was := len(out)
		if batch && was > 1 {
			out = append(out, ',')
		}
		told := len(out)
		if out = c.answer(ctx, &x, call, out); len(out) == told {
			out = out[:was]
		}
	}
	switch {
	case batch && len(out) > 1:
		out = append(out, ']')
	case batch || len(out) == 0:
		return out
	}
	out = append(out, '\n')
	c.out.send(ctx, out)
	return out
}

// answer carries out a request and appends its answer, if it gets one.
func (c *conn) answer(ctx context.Context, x *exchange, call call, out []byte) []byte {
	ctx = c.asked(ctx)
	if call.refusal != nil {
		c.refused(ctx, "request", call.refusal)
		return appendAnswer(out, call.id, nil, call.refusal)
	}
	result, err := c.call(ctx, x, call.request)
	if err != nil {
		e := asError(err)
		if e.Code == codeInternal {
			c.log.Error("request failed", "method", call.method, "err", err)
		}
		c.refused(ctx, shape.Clip(call.method), e)
		if call.id == nil {
			return out
		}
		return appendAnswer(out, call.id, nil, e)
	}
	if call.id == nil {
		return out
	}
	return appendAnswer(out, call.id, result, nil)
}

// asked is ctx of one call.
func (c *conn) asked(ctx context.Context) context.Context {
	if k, ok := c.k.(harness.Witness); ok {
		return k.Asked(ctx)
	}
	return ctx
}

// refused has a refusal taken down before the client hears of it.
func (c *conn) refused(ctx context.Context, what string, e *rpcError) {
	if k, ok := c.k.(harness.Witness); ok {
		f := harness.Refusal{What: "jsonrpc " + what, Text: e.Message}
		if e.Data != nil {
			f.Code = e.Data.Code
		}
		k.Refused(ctx, f)
	}
}
