package gateway

import (
	"bufio"
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"harness"
)

// maxField bounds each field of a line in the access log.
const maxField = 256

// line is a request's line in the access log while it is served, and what of it
// is refused.
type line struct {
	http.ResponseWriter
	matter
	visit  *visit // nil: it came on no connection
	audit  *Ledger
	began  time.Time
	caller harness.Caller
	status int
	bytes  int64
	asks   bool // for another protocol on the connection
}

func (l *line) WriteHeader(status int) {
	if l.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		l.status = status
		if refusing(status) {
			l.refused()
		}
	}
	l.ResponseWriter.WriteHeader(status)
}

// refused takes down that the request is refused, before that is answered.
func (l *line) refused() {
	r := Record{Caller: l.caller}
	if f := l.refusal; f != nil {
		r.Session, r.Code, r.Reason = f.Session, f.Code, f.Text
	} else { // whoever answers says no more
		r.Code = cmp.Or(strings.ToLower(strings.ReplaceAll(http.StatusText(l.status), " ", "_")), "refused")
		r.Reason = fmt.Sprint("answered with ", l.status)
	}
	switch l.status {
	case http.StatusMisdirectedRequest:
		r.Detail = "host " + l.request.Host
	case http.StatusForbidden:
		if origin := l.request.Header.Get("Origin"); origin != "" {
			r.Detail = "origin " + origin
		}
	}
	l.audit.about(&l.matter, r)
}

func (l *line) Write(b []byte) (int, error) {
	if l.status == 0 {
		l.status = http.StatusOK
	}
	n, err := l.ResponseWriter.Write(b)
	l.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (l *line) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// Flush and Hijack are for those who ask for them by name.
func (l *line) Flush() { http.NewResponseController(l.ResponseWriter).Flush() } // what cannot flush has nothing to

func (l *line) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, b, err := http.NewResponseController(l.ResponseWriter).Hijack()
	if err == nil && l.status == 0 {
		l.status = http.StatusOK // a stream, whose head its handler writes
		if l.asks {
			l.status = http.StatusSwitchingProtocols
		}
	}
	return c, b, err
}

// log writes the line. The query stays out of it: it may have what is nobody's
// business.
func (e *Edge) log(l *line, r *http.Request) {
	ctx := r.Context()
	if !e.opts.Access.Enabled(ctx, slog.LevelInfo) {
		return
	}
	status := l.status
	if status == 0 {
		status = http.StatusOK
	}
	attrs := []slog.Attr{
		slog.String("remote", printable(r.RemoteAddr, maxField)), slog.String("method", printable(r.Method, 16)),
		slog.String("path", field(r.URL.Path, e.opts.Clean)), slog.Int("status", status), slog.Int64("bytes", l.bytes),
		slog.Float64("ms", float64(time.Since(l.began).Microseconds())/1000), slog.String("agent", field(r.UserAgent(), e.opts.Clean)),
	}
	if l.caller.Name != "" {
		attrs = append(attrs, slog.String("caller", printable(l.caller.Name, maxField)))
	}
	if status == http.StatusForbidden || status == http.StatusMisdirectedRequest {
		attrs = append(attrs, slog.String("host", field(r.Host, e.opts.Clean)), slog.String("origin", field(r.Header.Get("Origin"), e.opts.Clean)))
	}
	e.opts.Access.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}
