package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"harness"
	"harness/internal/shape"
)

// document is the description itself.
type document struct{}

func (s *Server) describeAPI(w http.ResponseWriter, r *http.Request, _ *none, _ *none) error {
	if err := acceptable(r, mediaJSON); err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaJSON)
	defer patient(w)()
	w.Write(s.openapi) // a client that is gone needs no answer
	return nil
}

// event is an envelope, as the log has it.
type event struct {
	Seq       harness.Seq       `json:"seq"`
	ID        string            `json:"id"`
	TS        string            `json:"ts"`
	SessionID harness.SessionID `json:"session_id"`
	TurnID    harness.TurnID    `json:"turn_id,omitempty"`
	Type      harness.Type      `json:"type"`
	Tier      harness.Tier      `json:"tier" rule:"words=default|debug"`
	Payload   json.RawMessage   `json:"payload"`
}

type object = map[string]any

// OpenAPI describes every operation, from the table that serves them.
func OpenAPI(version string) []byte {
	set := &shape.Set{Named: map[string]*shape.Type{}}
	set.Own = func(t reflect.Type) (*shape.Type, bool) {
		switch t {
		case reflect.TypeFor[envelope]():
			return set.Sent(reflect.TypeFor[event]()), true
		case reflect.TypeFor[document]():
			return &shape.Type{Kind: "map", Elem: &shape.Type{Kind: "any"}}, true
		}
		return nil, false
	}
	schemas := shape.Schema{Refs: "#/components/schemas/"}
	refusal := schemas.Use(set.Sent(reflect.TypeFor[problem]()))
	paths := object{}
	routes := routes()
	for i := range routes {
		o := &routes[i]
		path, ok := paths[o.path].(object)
		if !ok {
			path = object{}
			paths[o.path] = path
		}
		path[strings.ToLower(o.method)] = o.describe(set, schemas, refusal)
	}
	declared := object{}
	for name, t := range set.Named {
		declared[name] = schemas.Declare(t)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(object{
		"openapi":  "3.1.0",
		"info":     object{"title": "Harness", "version": version, "description": "Durable agent sessions over HTTP. docs/protocols/http.md tells the rest."},
		"paths":    paths,
		"security": []any{object{"token": []any{}}, object{"login": []any{}}},
		"components": object{
			"schemas": declared,
			"securitySchemes": object{
				"token": object{"type": "http", "scheme": "bearer", "description": "of the data directory, or made by harness token add"},
				"login": object{"type": "apiKey", "in": "cookie", "name": "harness_7717", "description": "of a browser that followed a login URL; the name ends with the server's port, and begins with __Host- under TLS"},
			},
		},
	})
	if err != nil {
		panic("rest: describe: " + err.Error())
	}
	return b.Bytes()
}

// describe is the operation object of a route.
func (o *route) describe(set *shape.Set, schemas shape.Schema, refusal object) object {
	params := []any{}
	for _, f := range set.Rules(o.params) {
		where := "query"
		if o.inPath(f.Name) {
			where = "path"
		}
		params = append(params, object{"name": f.Name, "in": where, "required": !f.Optional, "schema": schemas.Use(f.Type)})
	}
	if o.method == http.MethodPost {
		params = append(params, object{"name": "Idempotency-Key", "in": "header", "required": false, "schema": object{"type": "string", "maxLength": maxKey}})
	}
	if slices.ContainsFunc(o.answers, func(a answer) bool { return a.media == mediaEvents }) && o.method == http.MethodGet {
		params = append(params, object{"name": "Last-Event-ID", "in": "header", "required": false, "schema": object{"type": "string", "maxLength": 192}})
	}
	answers := object{}
	for _, a := range o.answers {
		d := object{"description": a.text}
		switch {
		case a.of != nil:
			d["content"] = object{a.media: object{"schema": schemas.Use(set.Sent(a.of))}}
		case a.media != "":
			d["content"] = object{a.media: object{"schema": object{"type": "string"}}}
		}
		answers[strconv.Itoa(a.status)] = d
	}
	for status, codes := range o.refusals() {
		answers[strconv.Itoa(status)] = object{"description": "code " + strings.Join(codes, ", "), "content": object{mediaProblem: object{"schema": refusal}}}
	}
	answers["default"] = object{
		"description": "refused before it is served: 401 unauthenticated, 403 forbidden, 404 for another's session, 421 another host, 429 too_many_requests; docs/security.md has all of them",
		"content":     object{mediaProblem: object{"schema": refusal}},
	}
	d := object{"operationId": o.id, "summary": o.summary, "parameters": params, "responses": answers}
	if o.body != nil {
		d["requestBody"] = object{"description": "What is not described here is refused by its name.", "required": o.body.Needs(), "content": object{mediaJSON: object{"schema": schemas.Use(set.Taken(o.takes, o.body))}}}
	} else if len(o.media) > 0 {
		content := object{}
		for _, m := range o.media {
			content[m] = object{"schema": object{"type": "string"}}
		}
		d["requestBody"] = object{"required": true, "content": content}
	}
	return d
}

// refusals are the problems that an operation may answer with: codes by status.
func (o *route) refusals() map[int][]string {
	list := []*problem{errAccept}
	if o.body != nil || len(o.media) > 0 {
		list = append(list, errMedia, errBodyTooBig)
	}
	if o.method == http.MethodPost {
		list = append(list, errKeyReused)
	}
	for _, e := range slices.Concat([]error{harness.ErrInvalid, harness.ErrInternal, harness.ErrCorrupt, harness.ErrUnavailable, harness.ErrStorage}, o.refuses) {
		list = append(list, asProblem(e))
	}
	codes := map[int][]string{}
	for _, p := range list {
		codes[p.Status] = append(codes[p.Status], p.Code)
	}
	return codes
}
