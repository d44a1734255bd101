package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"harness/protocol/rest"
)

const docs = "../../docs/protocols/"

// The committed description is that of the code. UPDATE=1 rewrites it.
func TestTheDescriptionIsUpToDate(t *testing.T) {
	t.Parallel()
	want := rest.OpenAPI("0")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(docs+"openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(docs + "openapi.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("openapi.json differs from the code (%v); run with UPDATE=1", err)
	}
}

// The page about the protocol names every operation, status and code.
func TestThePageNamesEverything(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(docs + "http.md")
	if err != nil {
		t.Fatal(err)
	}
	says := func(word string) {
		if !strings.Contains(string(page), word) {
			t.Errorf("docs/protocols/http.md does not mention %s", word)
		}
	}
	for path, methods := range described(t).paths {
		for method, op := range methods {
			says("`" + strings.ToUpper(method) + " " + path + "`")
			for status, r := range op.Responses {
				if codes, ok := strings.CutPrefix(r.Description, "code "); ok {
					for code := range strings.SplitSeq(codes, ", ") {
						says("| " + status + " | `" + code + "` |")
					}
				}
			}
		}
	}
}

// description is the OpenAPI document, compiled.
type description struct {
	paths    map[string]map[string]operation
	compiler *jsonschema.Compiler

	mu      sync.Mutex // guards what follows
	schemas map[string]*jsonschema.Schema
	seen    map[string]bool // "operation status"
}

type operation struct {
	OperationID string
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   json.RawMessage
	}
	RequestBody *struct {
		Content map[string]any
	}
	Responses map[string]struct {
		Description string
		Content     map[string]any
	}
}

// described is a copy for each test: what it saw is its own.
func described(t testing.TB) *description {
	t.Helper()
	text := rest.OpenAPI("0")
	var doc struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", v); err != nil {
		t.Fatal(err)
	}
	return &description{paths: doc.Paths, compiler: c, schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
}

// find is the template of a path, and its operation.
func (d *description) find(method, path string) (string, operation, bool) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	best := ""
	for template := range d.paths {
		want := strings.Split(template, "/")
		fits := len(want) == len(parts)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == parts[i] || strings.HasPrefix(want[i], "{") && parts[i] != ""
		}
		if fits && (best == "" || strings.Count(template, "{") < strings.Count(best, "{")) {
			best = template
		}
	}
	op, ok := d.paths[best][strings.ToLower(method)]
	return best, op, ok && method == strings.ToUpper(method)
}

func (d *description) saw(method, path string, status int) {
	_, op, _ := d.find(method, path)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[op.OperationID+" "+strconv.Itoa(status)] = true
}

// check compares an answer's status, content type and body with the document.
// Requests that it does not describe must be answered with a problem.
func (d *description) check(t testing.TB, method, path string, a reply) {
	t.Helper()
	template, op, ok := d.find(method, path)
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	where := "openapi.json#/components/schemas/Problem"
	if ok {
		r, listed := op.Responses[strconv.Itoa(a.StatusCode)]
		if !listed {
			t.Errorf("%s %s: status %d is not described\n%s", method, path, a.StatusCode, a.body)
			return
		}
		if _, listed := r.Content[media]; !listed && (media != "" || len(r.Content) > 0) {
			t.Errorf("%s %s: %d with content type %q is not described", method, path, a.StatusCode, media)
			return
		}
		where = fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%d/content/%s/schema", pointer(template), strings.ToLower(method), a.StatusCode, pointer(media))
	} else if media != "application/problem+json" {
		t.Errorf("%s %s: %d %s, want a problem", method, path, a.StatusCode, media)
		return
	}
	d.saw(method, path, a.StatusCode)
	if !strings.HasSuffix(media, "json") {
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err != nil {
		t.Errorf("%s %s: %v\n%s", method, path, err, a.body)
		return
	}
	if err := d.schema(t, where).Validate(v); err != nil {
		t.Errorf("%s %s: %d does not fit the description: %v\n%.2000s", method, path, a.StatusCode, err, a.body)
	}
}

func (d *description) schema(t testing.TB, where string) *jsonschema.Schema {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[where]; s != nil {
		return s
	}
	s, err := d.compiler.Compile(where)
	if err != nil {
		t.Fatal(err)
	}
	d.schemas[where] = s
	return s
}

func pointer(s string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
}

// missing lists what is described and was not seen.
func (d *description) missing(want func(id string, status int) bool) []string {
	var list []string
	for _, methods := range d.paths {
		for _, op := range methods {
			for code := range op.Responses {
				status, _ := strconv.Atoi(code)
				if want(op.OperationID, status) && !d.seen[op.OperationID+" "+code] {
					list = append(list, op.OperationID+" "+code)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}
