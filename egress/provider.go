package egress

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"harness"
)

// Dialect is whose words a provider speaks: the form of errors, where the key
// goes, and the names of an agent's variables.
type Dialect string

// Dialects.
const (
	DialectAnthropic Dialect = "anthropic" // x-api-key
	DialectOpenAI    Dialect = "openai"    // Authorization: Bearer
	DialectGoogle    Dialect = "google"    // x-goog-api-key
)

// Kind says what a route does.
type Kind string

// Kinds.
const (
	Answer Kind = "answer" // a model answers; it costs tokens
	Count  Kind = "count"  // something about a model, for which nothing is charged
	Look   Kind = "look"   // has no body
)

// Route is a path that agents may use. {model} in its last segment is any one;
// what may follow it begins with a colon.
type Route struct {
	Method string
	Path   string
	Kind   Kind
}

// Provider is a model server and the key for it.
type Provider struct {
	Base    string // https, or http on this machine; paths are added to it
	Dialect Dialect
	// Key is asked for each request; nil: the provider needs none. It has at
	// least eight bytes.
	Key func() string
	// Bearer sends the key as Authorization: Bearer in any dialect.
	Bearer bool
	Routes []Route // default: those of the dialect
	// Private lets Base be an address of a private network, such as a company's
	// gateway. Those of this machine and of its link stay refused.
	Private bool
}

// Anthropic is the provider of that name.
func Anthropic(key func() string) Provider {
	return Provider{Base: "https://api.anthropic.com", Dialect: DialectAnthropic, Key: key}
}

// OpenAI is the provider of that name.
func OpenAI(key func() string) Provider {
	return Provider{Base: "https://api.openai.com", Dialect: DialectOpenAI, Key: key}
}

// Google is the provider of that name: its Gemini API.
func Google(key func() string) Provider {
	return Provider{Base: "https://generativelanguage.googleapis.com", Dialect: DialectGoogle, Key: key}
}

// Routes are the paths of a dialect.
func Routes(d Dialect) []Route {
	look := func(path string) []Route {
		return []Route{{http.MethodGet, path, Look}, {http.MethodGet, path + "/" + anyModel, Look}}
	}
	switch d {
	case DialectAnthropic:
		return append(look("/v1/models"), Route{http.MethodPost, "/v1/messages", Answer}, Route{http.MethodPost, "/v1/messages/count_tokens", Count})
	case DialectGoogle:
		const model = "/v1beta/models/" + anyModel
		return append(look("/v1beta/models"), Route{http.MethodPost, model + ":generateContent", Answer},
			Route{http.MethodPost, model + ":streamGenerateContent", Answer}, Route{http.MethodPost, model + ":countTokens", Count})
	default:
		return append(look("/v1/models"), Route{http.MethodPost, "/v1/responses", Answer}, Route{http.MethodPost, "/v1/chat/completions", Answer})
	}
}

const anyModel = "{model}"

// match finds the route of a request, and the model that its path names.
func match(routes []Route, method, path string) (r Route, model string, ok bool) {
	for _, r := range routes {
		if r.Method != method {
			continue
		}
		if r.Path == path {
			return r, "", true
		}
		prefix, method, named := strings.Cut(r.Path, anyModel)
		rest, below := strings.CutPrefix(path, prefix)
		rest, does := strings.CutSuffix(rest, method)
		if named && below && does && plainSegment(rest) {
			return r, rest, true
		}
	}
	return Route{}, "", false
}

// plainSegment reports whether s means the same to everybody who reads a path.
func plainSegment(s string) bool {
	if s == "" || len(s) > maxModel || s == "." || s == ".." {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:-", r))
	})
}

// check refuses a provider to which a key could get lost on the way.
func (p Provider) check(name string) (*url.URL, error) {
	bad := func(format string, args ...any) (*url.URL, error) {
		return nil, fmt.Errorf("egress: provider %s: "+format+": %w", append(append([]any{name}, args...), harness.ErrInvalid)...)
	}
	if !plainSegment(name) {
		return bad("its name is part of a path")
	}
	if !slices.Contains([]Dialect{DialectAnthropic, DialectOpenAI, DialectGoogle}, p.Dialect) {
		return bad("no dialect %q", p.Dialect)
	}
	u, err := url.Parse(p.Base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.RawPath != "" {
		return bad("%q is no address of a server", p.Base)
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && onLoopback(u)) {
		return bad("%q is not https", p.Base)
	}
	for _, r := range p.Routes {
		if _, rest, _ := strings.Cut(r.Path, anyModel); rest != "" && (rest[0] != ':' || strings.Contains(rest, "/")) {
			return bad("route %q", r)
		}
		if r.Method == "" || !strings.HasPrefix(r.Path, "/") || r.Kind != Answer && r.Kind != Count && r.Kind != Look {
			return bad("route %q", r)
		}
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// onLoopback reports whether an address is, by its words, on this machine.
func onLoopback(u *url.URL) bool { return loopbackName(u.Hostname()) }

// loopbackName reports whether a host is this machine, without asking anybody.
func loopbackName(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
