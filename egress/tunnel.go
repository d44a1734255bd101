package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// refuseSNI is told when a tunnel was open already.
var refuseSNI = &refusal{http.StatusForbidden, "server name", "the tunnel is for another host"}

// tunnel serves a CONNECT. It returns a refusal that was not answered yet.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, d *decision) error {
	if p.forward == nil {
		return refuseTunnel
	}
	h := p.grants.find(proxyToken(r.Header))
	if h == nil {
		return refuseProxyAuth
	}
	d.of(h)
	if !h.Forward {
		return refuseTunnel
	}
	host, err := p.forward.target(r.URL.Host)
	if err != nil {
		return err
	}
	ctx, cancel := p.bind(r, h)
	defer cancel(nil)
	if err := h.budget.enter(ctx, 0); err != nil {
		return err
	}
	defer h.budget.settle(0, 0)
	there, err := p.forward.guard.connect(ctx, host, forwardPort)
	switch {
	case errors.Is(err, errAddress):
		return refuseAddress
	case err != nil:
		p.opts.Log.Warn("tunnel failed", "host", host, "session", h.Session, "err", err)
		return ended(ctx, refuseReach)
	}
	defer there.Close()
	p.tell(d, nil)
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer here.Close()
	stop := context.AfterFunc(ctx, func() { here.Close() })
	defer stop()
	_ = here.SetDeadline(time.Now().Add(connectFor))
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection Established\r\n\r\n"); err != nil {
		return nil // the agent left
	}
	hello, name := readHello(ctx, here, early.Reader)
	if name != host {
		p.tell(d, refuseSNI)
		return nil
	}
	_ = here.SetDeadline(time.Time{})
	pass := &passage{left: p.forward.maxBytes}
	pass.run(ctx, p.opts.Idle, here, there, hello)
	return nil
}

// passage carries bytes both ways, until one side fails, both have ended, or a
// bound is met.
type passage struct {
	moved atomic.Int64
	left  int64
}

func (t *passage) run(ctx context.Context, idle time.Duration, here, there net.Conn, first []byte) {
	end := sync.OnceFunc(func() {
		here.Close()
		there.Close()
	})
	defer end()
	stop := context.AfterFunc(ctx, end)
	defer stop()
	silence := time.AfterFunc(idle, end)
	defer silence.Stop()
	copyTo := func(dst, src net.Conn, first []byte) {
		if _, err := dst.Write(first); err != nil {
			end()
			return
		}
		buf := make([]byte, 32<<10)
		for {
			n, err := src.Read(buf)
			silence.Reset(idle)
			if t.moved.Add(int64(n)) > t.left {
				end()
				return
			}
			if _, sent := dst.Write(buf[:n]); sent != nil {
				end()
				return
			}
			if err == io.EOF {
				closeWrite(dst)
				return
			}
			if err != nil {
				end()
				return
			}
		}
	}
	var back sync.WaitGroup
	back.Go(func() { copyTo(here, there, nil) })
	copyTo(there, here, first)
	back.Wait()
}
