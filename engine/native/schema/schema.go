// Package schema checks the arguments of a tool call before the tool sees them,
// and mends what a model often gets wrong and nobody can misunderstand: a
// number in quotes, one value where a list is wanted, a list in a string.
//
// It guarantees that arguments without problems fit the schema, that those that
// fit from the beginning are handed on byte for byte, and that no schema makes
// it read a file or the network. It is pure.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of what is said to a model about its arguments: more at once does not
// help it.
const (
	maxProblems = 8
	maxProblem  = 300
	maxDetail   = 2 << 10
)

// Schema is a tool's schema, ready to check with. It may be used concurrently.
type Schema struct {
	resolved *jsonschema.Resolved // decides
	doc      any                  // the same, to say why
	refs     *refs                // of doc
}

// Drafts of JSON Schema, as the validator wants to hear of them. The others are
// read as one of these; see renew.
const (
	draft7    = "http://json-schema.org/draft-07/schema#"
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
)

var drafts = map[string]string{
	"": draft2020, "json-schema.org/draft/2020-12/schema": draft2020, "json-schema.org/draft/2019-09/schema": draft2020,
	"json-schema.org/draft-07/schema": draft7, "json-schema.org/draft-06/schema": draft7, "json-schema.org/draft-04/schema": draft7,
}

// Compile reads a JSON Schema of arguments, which are an object.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	top, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("schema: it must be an object")
	}
	named, _ := top["$schema"].(string)
	_, draft, _ := strings.Cut(strings.TrimSuffix(named, "#"), "://")
	if top["$schema"], ok = drafts[draft]; !ok {
		return nil, fmt.Errorf("schema: %q is not known", named)
	}
	delete(top, "$id") // what it is called elsewhere
	refs := findRefs(top, drafts[draft])
	for _, s := range refs.all {
		renew(s, drafts[draft])
	}
	if err := refs.check(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	raw, err = json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var parsed jsonschema.Schema
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{resolved, doc, refs}, nil
}

// decode reads one value of JSON, its numbers as they are written.
func decode(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something after the value")
	}
	return v, nil
}

// Check returns the arguments to run with, or what is wrong with them, in words
// that help to write better ones. Arguments that were mended differ from input.
func (s *Schema) Check(input json.RawMessage) (fixed json.RawMessage, problems []string) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	args, err := decode(input)
	if err != nil {
		return nil, []string{"the arguments are not JSON: " + cut(err.Error(), maxProblem)}
	}
	if text, ok := args.(string); ok { // the whole object in a string
		if inner, ok := inside(text, "object"); ok {
			args, input = inner, nil
		}
	}
	if _, ok := args.(map[string]any); !ok {
		return nil, []string{"the arguments must be a JSON object"}
	}
	first := s.resolved.Validate(plain(args))
	if first == nil {
		return whole(args, input)
	}
	wrong := explain(s.doc, s.refs, args)
	problems = tell(wrong, first)
	for range maxProblems { // each round mends what the one before laid bare
		mended := false
		for _, p := range wrong {
			args, mended = mend(args, p, mended)
		}
		if !mended {
			break
		}
		if s.resolved.Validate(plain(args)) == nil {
			return whole(args, nil)
		}
		wrong = explain(s.doc, s.refs, args)
	}
	return nil, problems
}

// whole is args in JSON: the bytes they came in, if they are still what they say.
func whole(args any, input json.RawMessage) (json.RawMessage, []string) {
	if input != nil {
		return input, nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, []string{"the arguments cannot be written as JSON: " + cut(err.Error(), maxProblem)}
	}
	return raw, nil
}

// tell says what is wrong, each thing once: what was found, or else what the
// validator said.
func tell(wrong []problem, err error) (problems []string) {
	for _, p := range wrong {
		where := "arguments"
		if len(p.path) > 0 {
			where = strings.Join(p.path, ".")
		}
		text := cut(where+": "+p.text, maxProblem)
		if !slices.Contains(problems, text) && len(problems) < maxProblems {
			problems = append(problems, text)
		}
	}
	if len(problems) == 0 {
		problems = []string{cut(err.Error(), maxDetail)}
	}
	return problems
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
