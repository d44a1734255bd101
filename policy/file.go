package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"harness"
)

// MaxFile bounds a file of rules: more than anybody keeps an overview of.
const MaxFile = 1 << 20

// Parse reads a policy from YAML: a document that is one, or the key policy of
// one that has other keys beside it. name is the file's in errors and verdicts.
// Nothing is guessed: a key that is not known is an error, with its line, which
// wraps [harness.ErrInvalid].
func Parse(name string, text []byte) (*Policy, error) {
	f := &file{name: name}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes: %w", name, MaxFile, harness.ErrInvalid)
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &Policy{}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %s: %w", name, strings.TrimPrefix(err.Error(), "yaml: "), harness.ErrInvalid)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: a second document: %w", name, harness.ErrInvalid)
	}
	p := &Policy{}
	top := doc.Content[0]
	if top.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(top.Content); i += 2 {
			if top.Content[i].Value == "policy" {
				f.table(top, true, map[string]func(*yaml.Node){"policy": func(n *yaml.Node) { f.policy(n, p) }})
				return p, f.err
			}
		}
	}
	f.policy(top, p)
	return p, f.err
}

// file collects the first error of a file.
type file struct {
	name string
	err  error
}

func (f *file) wrong(n *yaml.Node, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s:%d: %s: %w", f.name, n.Line, fmt.Sprintf(format, args...), harness.ErrInvalid)
	}
}

// table takes the keys of a mapping; with others it leaves those alone that it
// does not know.
func (f *file) table(n *yaml.Node, others bool, keys map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		f.wrong(n, "keys and values are expected here")
		return
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		take, known := keys[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			f.wrong(key, "a key is a word")
		case slices.Contains(seen, key.Value):
			f.wrong(key, "the key %q is there twice", key.Value)
		case known:
			take(value)
		case !others:
			f.wrong(key, "unknown key %q", key.Value)
		}
		seen = append(seen, key.Value)
	}
}

// word is one value.
func (f *file) word(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		f.wrong(n, "one value is expected here")
		return ""
	}
	return n.Value
}

// words is a value or a list of them.
func (f *file) words(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return []string{f.word(n)}
	}
	if len(n.Content) == 0 {
		f.wrong(n, "the list is empty")
	}
	var list []string
	for _, c := range n.Content {
		list = append(list, f.word(c))
	}
	return list
}

func (f *file) policy(n *yaml.Node, p *Policy) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	f.table(n, false, map[string]func(*yaml.Node){
		"rules": func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				f.wrong(n, "a list of rules is expected here")
				return
			}
			for i, c := range n.Content {
				p.rules = append(p.rules, f.rule(c, i+1))
			}
		},
		"trust": func(n *yaml.Node) {
			p.trust = each(f, n, newPathPattern)
			for _, t := range p.trust {
				if !t.absolute {
					f.wrong(n, "%q: a trusted directory is an absolute path", t.text)
				}
			}
		},
		"unattended": func(n *yaml.Node) {
			p.unattended.path = f.name + "#unattended"
			f.table(n, false, map[string]func(*yaml.Node){
				"default": func(n *yaml.Node) {
					word := f.word(n)
					if p.unattended.refuse = word == string(Deny); !p.unattended.refuse && word != string(Ask) {
						f.wrong(n, "default is ask or deny")
					}
				},
				"deadline": func(n *yaml.Node) {
					d, err := time.ParseDuration(f.word(n))
					if p.unattended.deadline = d; err != nil || d <= 0 {
						f.wrong(n, "deadline is a time such as 30m")
					}
				},
			})
		},
	})
}

// rule reads one rule. number is its place, from 1.
func (f *file) rule(n *yaml.Node, number int) rule {
	r := rule{path: fmt.Sprintf("%s#%d", f.name, number), source: ByFile}
	outcome := func(o Outcome) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if r.outcome != "" {
				f.wrong(n, "a rule has one of allow, ask and deny")
			}
			r.outcome, r.tools = o, each(f, n, newNameGlob)
		}
	}
	var seen []string
	f.table(n, false, map[string]func(*yaml.Node){
		"allow": outcome(Allow), "ask": outcome(Ask), "deny": outcome(Deny),
		"name":     func(n *yaml.Node) { r.path = f.name + "#" + f.label(n) },
		"reason":   func(n *yaml.Node) { r.reason = f.word(n) },
		"commands": func(n *yaml.Node) { r.commands = each(f, n, newCommandPattern) },
		"env":      func(n *yaml.Node) { r.env = each(f, n, newNameGlob); seen = append(seen, "env") },
		"paths":    func(n *yaml.Node) { r.paths = each(f, n, filePattern) },
		"place": func(n *yaml.Node) {
			word := f.word(n)
			if r.inside = new(word == "inside"); word != "inside" && word != "outside" {
				f.wrong(n, "place is inside or outside")
			}
		},
		"hosts":  func(n *yaml.Node) { r.hosts = each(f, n, newHostPattern) },
		"engine": func(n *yaml.Node) { r.engines = each(f, n, newNameGlob) },
		"user":   func(n *yaml.Node) { r.users = each(f, n, newNameGlob) },
		"mode": func(n *yaml.Node) {
			r.modes = each(f, n, oneOf(harness.Normal, harness.AcceptEdits, harness.FullAuto))
		},
		"kind": func(n *yaml.Node) { r.kinds = each(f, n, oneOf(harness.Chat, harness.Background)) },
	})
	switch {
	case f.err != nil:
	case r.outcome == "":
		f.wrong(n, "a rule begins with allow, ask or deny and the tools it is about")
	case r.outcome == Allow && r.commands != nil && r.hosts != nil:
		f.wrong(n, "where a command goes cannot be told from its words: an allow has commands or hosts")
	case len(seen) > 0 && (r.outcome != Allow || r.commands == nil):
		f.wrong(n, "env is for commands that are allowed")
	}
	return r
}

// label is the name of a rule, as it stands in events.
func (f *file) label(n *yaml.Node) string {
	name := f.word(n)
	if err := harness.CheckID("name", name); err != nil {
		f.wrong(n, "a name is one word of letters, digits and -")
	}
	return name
}

// each reads every value of a list.
func each[T any](f *file, n *yaml.Node, read func(string) (T, error)) []T {
	list := []T{}
	for _, w := range f.words(n) {
		v, err := read(w)
		if err != nil {
			f.wrong(n, "%v", err)
		}
		list = append(list, v)
	}
	return list
}

func newNameGlob(s string) (nameGlob, error) {
	if s == "" {
		return "", errors.New("an empty name")
	}
	return nameGlob(s), nil
}

func oneOf[T ~string](known ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		if !slices.Contains(known, T(s)) {
			return "", fmt.Errorf("%q is none of %v", s, known)
		}
		return T(s), nil
	}
}

// filePattern refuses patterns that would not mean what they seem to.
func filePattern(s string) (*pathPattern, error) {
	switch bare := strings.TrimPrefix(s, "./"); {
	case bare == "" || strings.HasPrefix(s, "~"):
		return nil, fmt.Errorf("%q: a pattern is relative to the workspace, or a whole path", s)
	case path.Clean(bare) != strings.TrimSuffix(bare, "/") || slices.Contains(strings.Split(bare, "/"), ".."):
		return nil, fmt.Errorf("%q: write it without .. and without empty parts", s)
	}
	return newPathPattern(s)
}
