package gateway

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"harness"
	"harness/internal/strict"
)

// loginFiles are a page that reads the code from behind the # of its own address
// and sends it home. It takes no address of a server from anywhere.
//
//go:embed login.html login.css login.js
var loginFiles embed.FS

// maxLoginBody bounds what a login page sends: a code and a path.
const maxLoginBody = 4 << 10

// LoginURL is where a browser logs in with a new code for c; see [Logins.Code].
func (l *Logins) LoginURL(base string, c harness.Caller) (string, error) {
	code, err := l.Code(c)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(base, "/") + "/login#code=" + code, nil
}

// Mount adds the routes of logging in and out.
func (l *Logins) Mount(e *Edge) {
	file := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, loginFiles, name) })
	}
	// Who logs in is not known yet.
	e.Handle(Route{Pattern: "GET /login", Public: true}, file("login.html"))
	e.Handle(Route{Pattern: "GET /login.css", Public: true}, file("login.css"))
	e.Handle(Route{Pattern: "GET /login.js", Public: true}, file("login.js"))
	e.Handle(Route{Pattern: "POST /login", Public: true, MaxBody: maxLoginBody}, l.answer(l.exchange(e.auth)))
	e.Handle(Route{Pattern: "POST /login/code"}, l.answer(l.mint))
	e.Handle(Route{Pattern: "POST /logout"}, l.answer(l.logout))
	e.Handle(Route{Pattern: "GET /whoami"}, l.answer(whoami))
}

func (l *Logins) answer(f func(w http.ResponseWriter, r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := f(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) // a browser that is gone needs none
	})
}

// exchange gives a cookie for a code. It must come from the login page: a page
// of another site must not be able to log a browser in, as whomever.
func (l *Logins) exchange(auth *Auth) func(http.ResponseWriter, *http.Request) (any, error) {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		if err := l.names.fromOurPage(r); err != nil {
			return nil, err
		}
		var body struct {
			Code string `json:"code"`
			Next string `json:"next"`
		}
		if err := readJSON(r, &body); err != nil {
			return nil, err
		}
		secret, _, err := l.Exchange(body.Code)
		if err != nil {
			return nil, auth.failed(r, err)
		}
		http.SetCookie(w, l.cookie(secret))
		return map[string]string{"next": LocalPath(body.Next)}, nil
	}
}

// mint is a code for another browser of the same caller.
func (l *Logins) mint(_ http.ResponseWriter, r *http.Request) (any, error) {
	c, ok := harness.CallerOf(r.Context())
	if !ok || c.Life.Over() {
		return nil, harness.ErrUnauthenticated
	}
	code, err := l.Code(c)
	return map[string]any{"code": code, "expires_in": int(codeFor.Seconds())}, err
}

func (l *Logins) logout(w http.ResponseWriter, r *http.Request) (any, error) {
	l.End(r)
	http.SetCookie(w, l.cookie(""))
	return map[string]bool{"ok": true}, nil
}

// whoami tells a caller what the server takes it for.
func whoami(_ http.ResponseWriter, r *http.Request) (any, error) {
	c, ok := harness.CallerOf(r.Context())
	if !ok {
		return nil, harness.ErrUnauthenticated
	}
	who := map[string]any{"name": c.Name, "user": c.User, "role": c.Role}
	if c.Scope != "" {
		who["scope"] = scopeParts(c.Scope)
	}
	return who, nil
}

// readJSON reads a body of the one kind that no form of another site can send.
func readJSON(r *http.Request, to any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refused(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body must be application/json")
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("the body is over %d bytes, or did not come: %w", maxLoginBody, harness.ErrTooLarge)
	}
	if err := strict.Check(b, maxLoginBody); err != nil {
		return fmt.Errorf("the body: %w: %w", err, harness.ErrInvalid)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("the body is not as it should be: %w", harness.ErrInvalid)
	}
	return nil
}

// LocalPath is next if it is a path on this server and nothing else, else "/".
// Browsers read more as the name of another server than people do.
func LocalPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(next, "/") || len(next) > MaxURL {
		return "/"
	}
	if !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\") || strings.ContainsAny(next, "\\") {
		return "/"
	}
	for _, c := range u.Path {
		if c < 0x20 || c == 0x7f {
			return "/"
		}
	}
	return u.EscapedPath()
}
