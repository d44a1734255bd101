package rest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"harness"
	"harness/archive"
	"harness/archive/transcript"
)

// Options are the server's settings. The zero value works.
type Options struct {
	Log     *slog.Logger // default: discard
	Version string       // of the API's description

	// Engines are those that run turns, by their names; Engine is the one of
	// sessions that name none.
	Engines map[string]harness.Engine
	Engine  string

	// Processes are those of a session that live; without it there are none.
	Processes func(harness.SessionID) ([]Process, error)

	// Shelf has the content of artifacts; without it there is none.
	Shelf harness.Shelf

	// TryPolicy says what would be decided about a call of a tool; without it
	// asking is unsupported.
	TryPolicy func(ctx context.Context, q PolicyQuestion) (PolicyVerdict, error)

	// Webhooks are who is told what happens; without them that is unsupported.
	Webhooks Webhooks

	// Tokens are the server's; without them that is unsupported.
	Tokens Tokens

	// Schedules are what happens by the clock; without them that is unsupported.
	Schedules Schedules

	// Import takes the events of a whole archive in, as archive.Import does;
	// without it importing is unsupported.
	Import func(ctx context.Context, events []harness.Event) (archive.Imported, error)
	// Transcripts read what other programs wrote down, without its secrets.
	Transcripts map[string]func(r io.Reader, user, directory string) (*transcript.Session, error)
	// MaxImport bounds the bytes of an archive or a transcript, which is held in memory until
	// its seal has been checked. Default 64 MiB: some 300,000 events.
	MaxImport int64
}

// Server is the HTTP surface of a server of sessions.
type Server struct {
	k         sessions
	opts      Options
	log       *slog.Logger
	feeds     *feeds
	lobby     lobby
	mux       *http.ServeMux
	importing chan struct{} // size 1: one archive at a time is in memory
	openapi   []byte
}

// New serves k, which must not have been used yet.
func New(k sessions, opts *Options) (*Server, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxImport == 0 {
		o.MaxImport = maxImport
	}
	f, err := newFeeds(k, feedOptions{Log: o.Log})
	if err != nil {
		return nil, err
	}
	s := &Server{k: k, opts: o, log: o.Log, feeds: f, mux: http.NewServeMux(), importing: make(chan struct{}, 1), openapi: OpenAPI(o.Version)}
	k.OnShow(s.lobby.shown)
	byPath := map[string][]*route{}
	routes := routes()
	for i := range routes {
		byPath[routes[i].path] = append(byPath[routes[i].path], &routes[i])
	}
	for path, list := range byPath {
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, list) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, errNoPath) })
	return s, nil
}

// ServeHTTP answers every request, those for paths that do not exist too.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.mux.ServeHTTP(w, r)
}

// Clients is how many event streams are open.
func (s *Server) Clients() int { return s.feeds.srv.Len() + int(s.lobby.count.Load()) }

// CloseOf ends the streams that were opened with a credential of this name.
func (s *Server) CloseOf(name string) {
	ended := func(c *harness.Caller) bool { return c.Name == name }
	s.feeds.closeIf(ended)
	s.lobby.closeIf(ended)
}

// CloseLogin ends the streams of a browser that was logged out.
func (s *Server) CloseLogin(login string) {
	ended := func(c *harness.Caller) bool { return c.Login == login }
	s.feeds.closeIf(ended)
	s.lobby.closeIf(ended)
}

// Shutdown ends every stream and returns when nothing of them runs any more, or
// ctx is done. Requests that come later are answered with 503.
func (s *Server) Shutdown(ctx context.Context) error {
	s.lobby.shutdown()
	return s.feeds.shutdown(ctx)
}

// dispatch finds the method among the operations of one path.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, list []*route) {
	i := slices.IndexFunc(list, func(o *route) bool {
		return o.method == r.Method || o.method == http.MethodGet && r.Method == http.MethodHead
	})
	if i < 0 {
		var allowed []string
		for _, o := range list {
			if allowed = append(allowed, o.method); o.method == http.MethodGet {
				allowed = append(allowed, http.MethodHead)
			}
		}
		slices.Sort(allowed)
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.refuse(w, r, errNoMethod)
		return
	}
	if err := list[i].serve(s, w, r); err != nil {
		s.refuse(w, r, err)
	}
}
