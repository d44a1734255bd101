// Package schema checks the arguments of a tool call before the tool sees them,
// and mends what a model often gets wrong and nobody can misunderstand: a
// number in quotes, one value where a list is wanted, a list in a string.
//
// It guarantees that arguments without problems fit the schema, that those that
// fit from the beginning are handed on byte for byte, that numbers are what is
// written, and that no schema makes it read a file or the network, or work for
// more than a bounded time: what takes longer is refused. It is pure.
//
// It knows draft 7 and 2020-12 and reads the others as these. References lead to
// parts of the schema; patterns are of RE2; formats are not checked.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of what is said to a model about its arguments: more at once does not
// help it.
const (
	maxProblems = 8
	maxProblem  = 300
)

// Schema is a tool's schema, ready to check with. It may be used concurrently.
type Schema struct {
	top     *shape
	tracked bool // see compiler
}

// drafts are those of JSON Schema that are known, and whether they are read as
// draft 7 or as 2020-12.
var drafts = map[string]bool{
	"": false, "json-schema.org/draft/2020-12/schema": false, "json-schema.org/draft/2019-09/schema": false,
	"json-schema.org/draft-07/schema": true, "json-schema.org/draft-06/schema": true, "json-schema.org/draft-04/schema": true,
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
	old, ok := drafts[draft]
	if !ok {
		return nil, fmt.Errorf("schema: %q is not known", head(named))
	}
	c := compiler{old: old}
	s, err := c.compileAll(top)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{s, c.tracked}, nil
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
	fixed, problems, _ = s.check(input)
	return fixed, problems
}

// check is Check; it returns how many steps it took, too.
func (s *Schema) check(input json.RawMessage) (fixed json.RawMessage, problems []string, steps int) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	args, err := decode(input)
	if err != nil {
		return nil, []string{"the arguments are not JSON: " + cut(err.Error(), maxProblem)}, 0
	}
	if text, ok := args.(string); ok { // the whole object in a string
		if inner, ok := inside(text, "object"); ok {
			args, input = inner, nil
		}
	}
	if _, ok := args.(map[string]any); !ok {
		return nil, []string{"the arguments must be a JSON object"}, 0
	}
	r := run{steps: maxSteps, tracked: s.tracked}
	fixed, problems = s.fix(&r, args, input)
	return fixed, problems, maxSteps - r.steps
}

// fix mends args for as long as that helps; input is what they are in JSON.
func (s *Schema) fix(r *run, args any, input json.RawMessage) (json.RawMessage, []string) {
	v := newItem(args)
	if r.takes(s.top, v) {
		return whole(args, input)
	}
	if r.out {
		return nil, []string{"the arguments take too much work to be checked against the schema: there is too much in them, or they are too deep"}
	}
	w := r.explain(s.top, v)
	problems := w.told
	if len(problems) == 0 {
		problems = []string{"the arguments do not fit the schema"}
	}
	for range maxProblems { // each round mends what the one before laid bare
		mended := false
		for _, p := range w.wants {
			mended = r.spend(p.cost()) && p.mend() || mended
		}
		if !mended || r.out {
			break
		}
		if v = newItem(args); r.takes(s.top, v) {
			return whole(args, nil)
		}
		w = r.explain(s.top, v)
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
