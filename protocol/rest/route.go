package rest

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"harness/internal/shape"
)

// route is one operation: what serves it and what describes it.
type route struct {
	method, path string
	id, summary  string
	params       *shape.Plan  // of path and query
	body         *shape.Plan  // nil: none, or one of another media type
	takes        reflect.Type // of body
	media        []string     // of the body; none: there is none
	answers      []answer
	refuses      []error // beyond what every operation may answer
	serve        func(s *Server, w http.ResponseWriter, r *http.Request) error
}

// answer is one way an operation answers well.
type answer struct {
	status int
	media  string       // empty: no body
	of     reflect.Type // of JSON; nil: a text that is described elsewhere
	text   string
}

// The media types.
const (
	mediaJSON    = "application/json"
	mediaLines   = "application/jsonl"
	mediaEvents  = "text/event-stream"
	mediaProblem = "application/problem+json"
)

// none is for operations without parameters or body.
type none struct{}

// get is an operation that only looks.
func get[P, R any](path, id, summary string, call func(s *Server, ctx context.Context, p *P) (R, error), refuses ...error) route {
	params := shape.PlanOf(reflect.TypeFor[P]())
	return route{
		method: http.MethodGet, path: path, id: id, summary: summary, params: params, refuses: refuses,
		answers: []answer{{http.StatusOK, mediaJSON, reflect.TypeFor[R](), "it"}},
		serve: func(s *Server, w http.ResponseWriter, r *http.Request) error {
			p := new(P)
			if err := readParams(r, params, p); err != nil {
				return err
			}
			if err := acceptable(r, mediaJSON); err != nil {
				return err
			}
			v, err := call(s, r.Context(), p)
			if err != nil {
				return err
			}
			return writeJSON(w, http.StatusOK, v)
		},
	}
}

// act is an operation that does something; key is the request's Idempotency-Key.
func act[P, B, R any](method, path, id, summary string, status int, call func(s *Server, ctx context.Context, key string, p *P, b *B) (R, error), refuses ...error) route {
	o := either(method, path, id, summary, []answer{{status, mediaJSON, reflect.TypeFor[R](), "done"}},
		func(s *Server, ctx context.Context, key string, p *P, b *B) (int, any, error) {
			v, err := call(s, ctx, key, p, b)
			return status, v, err
		}, refuses...)
	return o
}

// either is an operation with several good answers.
func either[P, B any](method, path, id, summary string, answers []answer, call func(s *Server, ctx context.Context, key string, p *P, b *B) (int, any, error), refuses ...error) route {
	return raw(method, path, id, summary, answers, func(s *Server, w http.ResponseWriter, r *http.Request, p *P, b *B) error {
		if err := acceptable(r, mediaJSON); err != nil {
			return err
		}
		key, err := idempotencyKey(r)
		if err != nil {
			return err
		}
		status, v, err := call(s, r.Context(), key, p, b)
		if err != nil {
			return err
		}
		return writeJSON(w, status, v)
	}, refuses...)
}

// raw is an operation that writes its answer itself. If it returns an error it
// has written nothing.
func raw[P, B any](method, path, id, summary string, answers []answer, call func(s *Server, w http.ResponseWriter, r *http.Request, p *P, b *B) error, refuses ...error) route {
	params := shape.PlanOf(reflect.TypeFor[P]())
	o := route{method: method, path: path, id: id, summary: summary, params: params, answers: answers, refuses: refuses}
	if reflect.TypeFor[B]().NumField() > 0 {
		o.body, o.takes, o.media = shape.PlanOf(reflect.TypeFor[B]()).Exact(), reflect.TypeFor[B](), []string{mediaJSON}
	}
	o.serve = func(s *Server, w http.ResponseWriter, r *http.Request) error {
		p, b := new(P), new(B)
		if err := readParams(r, params, p); err != nil {
			return err
		}
		if o.body != nil {
			if err := readBody(w, r, o.body, b); err != nil {
				return err
			}
		}
		return call(s, w, r, p, b)
	}
	return o
}

// inPath reports whether a parameter stands in the path.
func (o *route) inPath(name string) bool { return strings.Contains(o.path, "{"+name+"}") }

// Patterns are the operations as patterns of http.ServeMux, so that whoever
// stands before the server can name each.
func Patterns() []string {
	var all []string
	for _, o := range routes() {
		all = append(all, o.method+" "+o.path)
	}
	return all
}
