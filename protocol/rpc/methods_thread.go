package rpc

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"harness"
)

func (c *conn) threadCreate(ctx context.Context, x *exchange, p *threadCreateParams) (threadResult, error) {
	n := harness.NewSession{User: c.opts.User, Title: p.Title, Directory: p.Directory, Isolated: p.Isolated}
	if p.MaxRetries != nil {
		n.MaxRetries = new(int(*p.MaxRetries))
	}
	id, err := c.k.Create(ctx, n)
	if err != nil {
		return threadResult{}, err
	}
	return c.introduce(ctx, x, id, 0)
}

// introduce answers with a new thread and follows it from its creation on: from
// the end of what it inherited.
func (c *conn) introduce(ctx context.Context, x *exchange, id harness.SessionID, inherited harness.Seq) (threadResult, error) {
	sum, err := c.summary(ctx, id)
	if err != nil {
		return threadResult{}, err
	}
	if _, err := c.follow(ctx, x, id, inherited); err != nil {
		return threadResult{}, err
	}
	return threadResult{asThread(sum)}, nil
}

func (c *conn) threadList(ctx context.Context, _ *exchange, p *threadListParams) (threadListResult, error) {
	f := harness.Filter{User: c.opts.User}
	if p.Cursor != "" {
		before, ok := parseCursor(p.Cursor)
		if !ok {
			return threadListResult{}, badParam("cursor", "is none of ours")
		}
		f.Before = &before
	}
	if p.Limit > 0 {
		f.Limit = int(min(p.Limit, maxListed)) + 1
	}
	r := threadListResult{Threads: []thread{}}
	var last harness.Summary
	for s, err := range c.k.List(ctx, f) {
		if err != nil {
			return threadListResult{}, err
		}
		if f.Limit > 0 && len(r.Threads) == f.Limit-1 {
			r.Next = cursor(last)
			break
		}
		last = s
		r.Threads = append(r.Threads, asThread(s))
	}
	return r, nil
}

// maxListed bounds a page that a client asked for.
const maxListed = 10_000

// cursor names a row by its place in the order, so that a thread that moved
// meanwhile does not take the list with it.
func cursor(s harness.Summary) string {
	return strconv.FormatInt(s.Updated.UnixMilli(), 10) + "." + string(s.Session)
}

func parseCursor(s string) (harness.Summary, bool) {
	ms, id, _ := strings.Cut(s, ".")
	at, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || harness.CheckID("cursor", id) != nil {
		return harness.Summary{}, false
	}
	return harness.Summary{Session: harness.SessionID(id), Updated: time.UnixMilli(at)}, true
}

// threadGet returns what was told. A client that has read to the end is told
// what follows.
func (c *conn) threadGet(ctx context.Context, x *exchange, p *threadGetParams) (threadGetResult, error) {
	sum, err := c.summary(ctx, p.ThreadID)
	if err != nil {
		return threadGetResult{}, err
	}
	if harness.Seq(p.After) > sum.Seq {
		return threadGetResult{}, beyond("after", sum)
	}
	events, at, more, err := c.page(ctx, p.ThreadID, harness.Seq(p.After), p.Limit)
	if err != nil {
		return threadGetResult{}, err
	}
	r := threadGetResult{Thread: asThread(sum), Events: events}
	if more {
		r.Next = at.st.Seq
	} else if c.follows[p.ThreadID] == nil && len(c.follows) < maxFollowed {
		c.begin(x, at)
	}
	return r, nil
}

// beyond refuses a position that the log has not reached.
func beyond(field string, sum harness.Summary) *rpcError {
	return badParam(field, fmt.Sprintf("the log ends at %d", sum.Seq))
}
