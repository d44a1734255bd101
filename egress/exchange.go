package egress

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"harness/internal/redact"
)

// exchange is a request that may be sent on.
type exchange struct {
	holder   *holder
	upstream *upstream
	name     string // of it
	route    Route
	path     string
	ask      *ask
}

// spend sends a request on if the budget allows it, and settles the account.
func (p *Proxy) spend(w http.ResponseWriter, r *http.Request, d *decision, x *exchange) error {
	ctx, cancel := p.bind(r, x.holder)
	defer cancel(nil)
	most := int64(0)
	if x.route.Kind == Answer {
		most = x.ask.bound()
	}
	if err := x.holder.budget.enter(ctx, most); err != nil {
		return err
	}
	var used Usage
	defer func() {
		x.holder.budget.settle(most, used.Total())
		if used != (Usage{}) && p.opts.Used != nil {
			p.opts.Used(x.holder.Grant, used)
		}
	}()
	key, clean, err := x.upstream.secret()
	if err != nil {
		return err
	}
	p.tell(d, nil)
	res, err := x.upstream.transport.RoundTrip(x.upstream.request(ctx, r, x.path, key, x.ask.body))
	if err != nil {
		p.opts.Log.Warn("provider failed", "provider", x.name, "session", x.holder.Session, "err", err)
		if errors.Is(err, errAddress) {
			return refuseAddress
		}
		if x.route.Kind == Answer && ctx.Err() != nil { // it was sent, and may have been read
			used = newMeter(false).end(x.ask.model, int64(len(x.ask.body)), 0)
		}
		return ended(ctx, refuseReach)
	}
	defer res.Body.Close()
	if err := judge(res); err != nil {
		return err
	}
	events := eventStream(res)
	var m *meter
	if x.route.Kind == Answer && res.StatusCode < 300 {
		m = newMeter(events)
		defer func() { used = m.end(x.ask.model, int64(len(x.ask.body)), x.ask.most) }()
	}
	copyHeaders(w.Header(), res.Header, notReturned)
	if clean != nil {
		cleanHeaders(w.Header(), key, clean)
	}
	w.WriteHeader(res.StatusCode)
	if err := p.stream(ctx, cancel, w, res.Body, m, clean, events); err != nil {
		p.opts.Log.Warn("answer broke off", "provider", x.name, "session", x.holder.Session, "err", err)
		return err
	}
	return nil
}

// ended prefers the end of a token to what that looked like.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errRevoked) || errors.Is(cause, errExpired) {
		return refuseToken
	}
	return err
}

// judge refuses answers that an agent must not see.
func judge(res *http.Response) error {
	coding := res.Header.Get("Content-Encoding")
	switch {
	case res.StatusCode < 200, res.StatusCode >= 300 && res.StatusCode < 400:
		return refuseRedirect
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusProxyAuthRequired:
		return refuseTheirs // their words may have a part of the key
	case coding != "" && coding != "identity":
		return refuseCoded
	}
	return nil
}

func eventStream(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// stream sends an answer to the agent as it comes, without the key. cancel ends
// a provider that says nothing.
func (p *Proxy) stream(ctx context.Context, cancel context.CancelCauseFunc, w http.ResponseWriter, from io.Reader, m *meter, clean *redact.Redactor, events bool) error {
	control := http.NewResponseController(w)
	send := func(b []byte) error {
		if len(b) == 0 {
			return nil
		}
		_ = control.SetWriteDeadline(time.Now().Add(p.opts.Write))
		if _, err := w.Write(b); err != nil || !events {
			return err
		}
		return control.Flush()
	}
	if events { // the agent may want to know that it is heard
		if err := control.Flush(); err != nil {
			return err
		}
	}
	var secrets *redact.Stream
	if clean != nil {
		secrets = clean.Stream()
	}
	idle := time.AfterFunc(p.opts.Idle, func() { cancel(errIdle) })
	defer idle.Stop()
	buf := p.buffers.Get().(*[32 << 10]byte)
	defer p.buffers.Put(buf)
	var out []byte
	for left := int64(maxAnswer); ; {
		idle.Reset(p.opts.Idle)
		n, err := from.Read(buf[:])
		idle.Stop() // a slow agent is not the provider's fault
		part := buf[:n]
		if m != nil {
			m.write(part)
		}
		if secrets != nil {
			out = secrets.Next(out[:0], part)
			part = out
		}
		if sent := send(part); sent != nil {
			return sent
		}
		switch left -= int64(n); {
		case err == io.EOF:
			if m != nil {
				m.came = true
			}
			if secrets != nil {
				return send(secrets.End(out[:0]))
			}
			return nil
		case err != nil:
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		case left <= 0:
			return errLarge
		}
	}
}
