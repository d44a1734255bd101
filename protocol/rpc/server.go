package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"sync"

	"harness"
)

// sessions is what this protocol needs of the server.
type sessions interface {
	Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error)
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	Watch(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error]
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
	At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error)
}

// Options are the settings of a connection. The zero value works.
type Options struct {
	Log     *slog.Logger // default: discard
	Version string       // what initialize answers
	User    string       // whose threads these are; empty: everybody's
}

// conn is one client.
type conn struct {
	k    sessions
	opts Options
	log  *slog.Logger
	out  *writer
	wg   sync.WaitGroup

	methods []method

	mu      sync.Mutex // guards what follows
	follows map[harness.SessionID]*follower
	asked   map[harness.ApprovalID]harness.SessionID // where the requests we told of belong
}

// Serve answers requests from r on w until r ends, w fails or ctx is done. It
// returns when everything it started is gone; threads go on without it.
func Serve(ctx context.Context, k sessions, r io.Reader, w io.Writer, opts *Options) error {
	c := &conn{k: k, methods: table(), follows: map[harness.SessionID]*follower{}, asked: map[harness.ApprovalID]harness.SessionID{}}
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
	c.wg.Go(func() { c.out.run(ctx) })
	err := c.read(ctx, r)
	c.out.flush(ctx) // what was asked before the input ended is answered
	cancel(nil)
	c.wg.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, errWrite) {
		return cause
	}
	return err
}

// read handles line after line, in order.
func (c *conn) read(ctx context.Context, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for ctx.Err() == nil {
		line, long, err := readLine(lines)
		if long {
			c.reply(ctx, newAnswer(nil, nil, &rpcError{Code: codeInvalidRequest, Message: "the line is too long", Data: &errorData{Code: "too_large"}}))
		} else if len(line) > 0 {
			c.handle(ctx, line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// readLine reads up to a line's end. A line over the limit is skipped, in
// bounded memory.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return trim(line), long, err
		}
	}
}

// trim takes the white space off that may surround a message; a line of it
// alone is no message.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// handle answers one line: each request by itself, a batch with one array.
func (c *conn) handle(ctx context.Context, line []byte) {
	calls, batch := parse(line)
	var answers []json.RawMessage
	for _, call := range calls {
		a, after := c.answer(ctx, call)
		if a != nil && !batch {
			c.reply(ctx, *a)
		}
		if a != nil && batch {
			b := encode(*a)
			answers = append(answers, b[:len(b)-1])
		}
		if after != nil && !batch {
			after()
		} else if after != nil {
			defer after()
		}
	}
	if batch && len(answers) > 0 {
		c.out.send(ctx, encode(answers))
	}
}

// answer carries out a request. The second result is to be called when the
// answer is on its way.
func (c *conn) answer(ctx context.Context, call call) (*answer, func()) {
	if call.refusal != nil {
		a := newAnswer(call.id, nil, call.refusal)
		return &a, nil
	}
	result, after, err := c.call(ctx, call.request)
	if call.id == nil {
		return nil, after
	}
	if err != nil && err.Code == codeInternal {
		c.log.Error("request failed", "method", call.method, "err", err.Message)
	}
	if err == nil && result == nil {
		result = struct{}{}
	}
	a := newAnswer(call.id, result, err)
	if err != nil {
		a.Result = nil
	}
	return &a, after
}

func (c *conn) reply(ctx context.Context, a answer) { c.out.send(ctx, encode(a)) }
