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
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Bounds of what is said to a model about its arguments: more at once does not
// help it.
const (
	maxProblems = 8
	maxProblem  = 300
	maxDetail   = 2 << 10
)

// Schema is a tool's schema, ready to check with. It may be used concurrently.
type Schema struct{ compiled *jsonschema.Schema }

// nowhere is where a schema may refer to, beside itself.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not refer to %q", url)
}

// Compile reads a JSON Schema of arguments, which are an object.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, errors.New("schema: it must be an object")
	}
	const name = "arguments.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{compiled}, nil
}

// Check returns the arguments to run with, or what is wrong with them, in words
// that help to write better ones. Arguments that were mended differ from input.
func (s *Schema) Check(input json.RawMessage) (fixed json.RawMessage, problems []string) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	args, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
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
	first := s.compiled.Validate(args)
	if first == nil {
		return whole(args, input)
	}
	for range maxProblems { // each round mends what the one before laid bare
		err := s.compiled.Validate(args)
		if err == nil {
			return whole(args, nil)
		}
		mended := false
		for _, leaf := range leaves(err) {
			args, mended = mend(args, leaf, mended)
		}
		if !mended {
			break
		}
	}
	return nil, tell(first)
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

// leaves are the errors that no other explains.
func leaves(err error) (all []*jsonschema.ValidationError) {
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil
	}
	if len(v.Causes) == 0 {
		return []*jsonschema.ValidationError{v}
	}
	for _, c := range v.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}

// tell says what is wrong, each thing once.
func tell(err error) (problems []string) {
	say := message.NewPrinter(language.English)
	for _, leaf := range leaves(err) {
		where := "arguments"
		if len(leaf.InstanceLocation) > 0 {
			where = strings.Join(leaf.InstanceLocation, ".")
		}
		text := cut(where+": "+leaf.ErrorKind.LocalizedString(say), maxProblem)
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
