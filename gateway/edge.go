package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"harness"
)

// Route is a pattern of http.ServeMux with what one must be to have it served.
// The zero value is for callers, whoever they are.
type Route struct {
	Pattern string
	Public  bool     // for everybody: say why where it is used
	Needs   []Action // a caller that may do all of these to the server as a whole
	MaxBody int64    // 0: MaxBody; negative: the handler has its own bound
}

// EdgeOptions are the settings of an edge. The zero value works.
type EdgeOptions struct {
	Access *slog.Logger // one line for each request; default: discard

	// Clean takes secrets out of what is cut before it is logged: half of one is
	// not recognised. Default: nothing is a secret.
	Clean func(string) string

	// BehindProxy believes what the proxy says of the client's address: the
	// last entry of X-Forwarded-For, which it wrote itself.
	BehindProxy bool

	// Audit has every request that was refused, and what came that was none.
	Audit *Ledger

	CallerBurst int           // requests of one caller at once; default 10,000
	CallerEvery time.Duration // one more; default 1 ms
}

// Edge is the outermost handler of the server. It answers what no client of
// ours sends, knows every route, and hands on only requests whose caller is
// known, or whose route says that it is for everybody.
type Edge struct {
	names     *Names
	auth      *Auth
	opts      EdgeOptions
	mux       *http.ServeMux
	routes    map[string]Route
	strangers *meter
	callers   *meter

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]*visit
	from  map[string]int
}

// visit is a connection that is HTTP.
type visit struct {
	who     string
	asked   int64        // requests that began to come; guarded by the edge's mutex
	served  atomic.Int64 // those that came
	pressed atomic.Bool  // its answers have a time limit
}

type visitKey struct{}

// NewEdge has no routes yet.
func NewEdge(names *Names, auth *Auth, opts *EdgeOptions) *Edge {
	e := &Edge{names: names, auth: auth, mux: http.NewServeMux(), routes: map[string]Route{}, conns: map[net.Conn]*visit{}, from: map[string]int{}}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Access == nil {
		e.opts.Access = slog.New(slog.DiscardHandler)
	}
	if e.opts.CallerBurst == 0 {
		e.opts.CallerBurst = callerBurst
	}
	if e.opts.CallerEvery == 0 {
		e.opts.CallerEvery = callerEvery
	}
	e.strangers = newMeter(strangerBurst, strangerEvery)
	e.callers = newMeter(e.opts.CallerBurst, e.opts.CallerEvery)
	return e
}

// Handle adds a route. Call it before the first request.
func (e *Edge) Handle(r Route, h http.Handler) {
	e.mux.Handle(r.Pattern, h)
	e.routes[r.Pattern] = r
}

// Routes are all of them, by pattern.
func (e *Edge) Routes() []Route {
	all := make([]Route, 0, len(e.routes))
	for _, r := range e.routes {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Route) int { return strings.Compare(a.Pattern, b.Pattern) })
	return all
}

// headerSlop is what net/http allows a head beyond its limit.
const headerSlop = 4 << 10

// Server is an HTTP server with this edge and its limits.
func (e *Edge) Server(log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: e, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: HeaderFor, IdleTimeout: IdleFor, MaxHeaderBytes: MaxHeader - headerSlop, ConnState: e.connState,
		ConnContext: e.visited, DisableGeneralOptionsHandler: true, // OPTIONS * is for the edge as well
	}
}

// visited lets requests know on which connection they came. It is the first to
// hear of one.
func (e *Edge) visited(ctx context.Context, c net.Conn) context.Context {
	v := &visit{who: party(c.RemoteAddr().String())}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns[c] = v
	return context.WithValue(ctx, visitKey{}, v)
}

// ServeHTTP refuses, or finds out who asks and hands on.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	if v != nil {
		v.served.Add(1)
	}
	if e.opts.BehindProxy {
		r.RemoteAddr = forwarded(r)
	}
	line := &line{ResponseWriter: w, visit: v, matter: matter{request: r}, audit: e.opts.Audit, began: time.Now(), asks: r.Header.Get("Upgrade") != ""}
	defer e.log(line, r)
	secureHeaders(w.Header(), e.names)
	timeBody(line, r, awayFor) // whatever is answered: what is left of a body is waited for before that
	route, err := e.decide(line, r)
	if err != nil || line.caller == (harness.Caller{}) {
		line.press()
	} else {
		line.relax()
		r = r.WithContext(withMatter(harness.WithSharedCaller(r.Context(), &line.caller), &line.matter))
	}
	if err == nil {
		err = boundBody(line, r, route.MaxBody)
	}
	switch {
	case err == nil:
		e.mux.ServeHTTP(line, r)
	case looksAround(r) && harness.AsError(err) == harness.ErrUnauthenticated && e.auth.opts.Logins != nil:
		http.Redirect(line, r, "/login#next="+url.QueryEscape(r.URL.EscapedPath()), http.StatusSeeOther)
	default:
		refuse(line, err)
	}
}

// decide is where a request leads, and who sends it unless that is for everybody;
// or why it is refused.
func (e *Edge) decide(l *line, r *http.Request) (Route, error) {
	if err := e.admit(r); err != nil {
		return Route{}, err
	}
	_, pattern := e.mux.Handler(r)
	route, known := e.routes[pattern]
	if route.Public && !e.strangers.take(time.Now(), party(r.RemoteAddr)) {
		return route, refused(http.StatusTooManyRequests, "too_many_requests", "too many requests from this address")
	}
	var err error
	if !route.Public || !known { // also what leads nowhere: strangers do not learn where there is something
		l.caller, err = e.enter(r, route)
	}
	return route, err
}

// looksAround reports whether a person wants to see a page, wherever it is: to
// those the login page says more than a problem does.
func looksAround(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" && r.Header.Get("Authorization") == ""
}

// admit refuses what has no business here, whoever sends it.
func (e *Edge) admit(r *http.Request) error {
	switch {
	case !e.names.Host(r.Host):
		return refused(http.StatusMisdirectedRequest, "misdirected", "this server is not called that")
	case len(r.URL.Path)+len(r.URL.RawQuery) > MaxURL:
		return refused(http.StatusRequestURITooLong, "uri_too_long", "the URL is longer than any of ours")
	case r.Method == http.MethodTrace || r.Method == http.MethodConnect:
		return refused(http.StatusMethodNotAllowed, "method_not_allowed", "there is no such method here")
	}
	return e.names.checkOrigin(r)
}

// enter is who sends the request, with the reason if it may not.
func (e *Edge) enter(r *http.Request, route Route) (harness.Caller, error) {
	c, err := e.auth.Authenticate(r)
	if err != nil {
		return c, err
	}
	if !e.callers.take(time.Now(), c.Name+"\x00"+c.User) {
		return c, refused(http.StatusTooManyRequests, harness.ErrTooMany.Code, "too many requests of this caller")
	}
	for _, a := range route.Needs {
		if !May(c, a) {
			return c, forbidden(c, a)
		}
	}
	return c, nil
}

// forwarded is the client's address as the proxy saw it.
func forwarded(r *http.Request) string {
	all := r.Header.Values("X-Forwarded-For")
	if len(all) == 0 {
		return r.RemoteAddr
	}
	last := all[len(all)-1]
	if i := strings.LastIndexByte(last, ','); i >= 0 {
		last = last[i+1:]
	}
	if last = strings.TrimSpace(last); net.ParseIP(last) == nil {
		return r.RemoteAddr
	}
	return net.JoinHostPort(last, "0")
}

// connState counts connections, and closes those that are too many. One that is
// taken over is no longer HTTP: whoever took it counts it. One on which something
// came that was no request, or came too slowly, has a line in the logs as well.
func (e *Edge) connState(c net.Conn, s http.ConnState) {
	v, room := e.count(c, s)
	switch {
	case v == nil:
	case !room:
		c.Close() // comes back here
		e.opts.Audit.about(nil, Record{Remote: c.RemoteAddr().String(), Request: "connection", Code: harness.ErrTooMany.Code, Reason: "too many connections"})
	case s == http.StateClosed && v.asked > v.served.Load():
		e.opts.Access.Info("unread", "remote", c.RemoteAddr().String())
		e.opts.Audit.about(nil, Record{Remote: c.RemoteAddr().String(), Request: "unread", Code: harness.ErrInvalid.Code, Reason: "what came is no request, or came too slowly"})
	}
}

// count is the visit of a connection, and whether there is room for it.
func (e *Edge) count(c net.Conn, s http.ConnState) (v *visit, room bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v = e.conns[c]
	if v == nil {
		return nil, true
	}
	switch s {
	case http.StateNew:
		e.from[v.who]++
		return v, len(e.conns) <= MaxConnections && e.from[v.who] <= MaxFromOne
	case http.StateActive:
		v.asked++
	case http.StateClosed, http.StateHijacked:
		delete(e.conns, c)
		if e.from[v.who]--; e.from[v.who] == 0 {
			delete(e.from, v.who)
		}
	case http.StateIdle:
	}
	return v, true
}
