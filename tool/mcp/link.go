package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness"
)

// errClosed is the cause of an end that we wanted.
var errClosed = errors.New("it was closed")

// hello is the version of the protocol that is tried first, which all servers
// speak. Those that only know later ones say so and get theirs.
const hello = "2025-11-25"

// link is one life of a server: a process or an HTTP session. A server that dies
// gets another link.
type link struct {
	session *sdk.ClientSession
	life    context.Context // done when the server is gone; its cause says why
	end     context.CancelCauseFunc
	said    *tail
	running sync.WaitGroup // what watches for the end

	changed atomic.Bool // its list of tools is not what it was
	suspect atomic.Bool // it let a call time out

	mu       sync.Mutex // guards what follows
	calls    int64
	progress map[int64]func(string)
}

// connect starts a server and says hello. ctx bounds that and not the server's life.
func connect(ctx context.Context, s *Server, workspace harness.Workspace) (*link, error) {
	l, err := dial(ctx, s, workspace, hello)
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code != jsonrpc.CodeInternalError {
		l, err = dial(ctx, s, workspace, "")
	}
	return l, err
}

func dial(ctx context.Context, s *Server, workspace harness.Workspace, version string) (*link, error) {
	l := &link{said: &tail{}, progress: map[int64]func(string){}}
	l.life, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })
	defer stop()

	var transport sdk.Transport
	var err error
	if s.URL != "" {
		transport, err = l.remote(s)
	} else {
		transport, err = l.launch(l.life, s, workspace)
	}
	if err != nil {
		l.end(err)
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "harness", Version: "1"}, &sdk.ClientOptions{
		Logger:                 slog.New(slog.DiscardHandler),
		Capabilities:           &sdk.ClientCapabilities{}, // no sampling, no elicitation, no roots
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.changed.Store(true) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			l.showProgress(r.Params)
		},
	})
	l.session, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		why := context.Cause(l.life)
		if errors.Is(why, errClosed) {
			why = nil // the SDK closes what it cannot connect, and err says why
		}
		l.end(errClosed)
		if w, ok := transport.(*wire); ok {
			_ = w.Close()
		}
		l.running.Wait()
		return nil, l.because(ctx, why, err)
	}
	l.running.Go(func() {
		err := l.session.Wait()
		if err == nil {
			err = errors.New("it ended the connection")
		}
		l.end(err)
	})
	return l, nil
}

// because prefers the reason of the end, with the server's last words, to what
// it looked like.
func (l *link) because(ctx context.Context, why, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		why = cause
	}
	if why != nil {
		err = why
	}
	if words := l.said.String(); words != "" {
		return fmt.Errorf("%w; its last words:\n%s", err, words)
	}
	return err
}

// close ends the server and returns when it is gone.
func (l *link) close() {
	l.end(errClosed)
	_ = l.session.Close()
	l.running.Wait()
}

// alive pings a server that has been silent.
func (l *link) alive(ctx context.Context) bool {
	if l.life.Err() != nil {
		return false
	}
	if !l.suspect.Load() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := l.session.Ping(ctx, nil); err != nil {
		if _, answered := errors.AsType[*jsonrpc.Error](err); !answered {
			l.end(errors.New("it does not answer"))
			return false
		}
	}
	l.suspect.Store(false)
	return true
}

// within runs f with a context that ends with the call's time and with the link.
func (l *link) within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.life, func() { cancel(context.Cause(l.life)) })()
	defer time.AfterFunc(limit, func() { cancel(errSlow) }).Stop()

	err := f(call)
	_, answered := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case context.Cause(call) == errSlow:
		l.suspect.Store(true)
		return fmt.Errorf("%w within %v; what was asked for may still happen", errSlow, limit)
	case answered:
		return err
	}
	// The connection is broken: whoever watches it is about to say why.
	wait := time.NewTimer(time.Second)
	defer wait.Stop()
	select {
	case <-l.life.Done():
		return fmt.Errorf("the server is gone: %w", l.because(ctx, context.Cause(l.life), err))
	case <-wait.C:
		return err
	}
}

var errSlow = errors.New("no answer")

// watch makes show get the progress of a call until forget is called.
func (l *link) watch(show func(string)) (token int64, forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	token = l.calls
	l.progress[token] = show
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.progress, token)
	}
}

// heard takes a notification of a process.
func (l *link) heard(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		l.changed.Store(true)
	case "notifications/progress":
		var p sdk.ProgressNotificationParams
		if json.Unmarshal(params, &p) == nil {
			l.showProgress(&p)
		}
	}
}

func (l *link) showProgress(p *sdk.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(float64)
	if !ok {
		return
	}
	l.mu.Lock()
	show := l.progress[int64(token)]
	l.mu.Unlock()
	if show == nil {
		return
	}
	line := fmt.Sprintf("%g", p.Progress)
	if p.Total > 0 {
		line += fmt.Sprintf("/%g", p.Total)
	}
	if p.Message != "" {
		line += " " + shorten(p.Message, tailLine)
	}
	show(line + "\n")
}
