package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"harness"
)

// MaxFile bounds a file of hooks.
const MaxFile = 1 << 20

// Parse reads hooks from YAML: the key notify of a document that may have others
// beside it, such as harness.yaml. What is written as a secret is where it is, and
// secret finds it. An error says what is wrong and wraps [harness.ErrInvalid].
func Parse(name string, text []byte, secret func(source string) (string, error)) ([]Hook, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes: %w", name, MaxFile, harness.ErrInvalid)
	}
	var doc struct {
		Notify yaml.Node `yaml:"notify"`
	}
	bad := func(err error) error {
		return fmt.Errorf("%s: %s: %w", name, strings.TrimPrefix(err.Error(), "yaml: "), harness.ErrInvalid)
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, bad(err)
	}
	if doc.Notify.IsZero() {
		return nil, fmt.Errorf("%s: there is no key notify: %w", name, harness.ErrInvalid)
	}
	var list []struct {
		Name    string         `yaml:"name"`
		URL     string         `yaml:"url"`
		Command []string       `yaml:"command"`
		Secret  string         `yaml:"secret"`
		On      []Kind         `yaml:"on"`
		Only    []harness.Kind `yaml:"only"`
		User    string         `yaml:"user"`
		Private bool           `yaml:"private"`
	}
	var section bytes.Buffer
	if err := yaml.NewEncoder(&section).Encode(&doc.Notify); err != nil {
		return nil, bad(err)
	}
	dec := yaml.NewDecoder(&section)
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, bad(err)
	}
	var hooks []Hook
	for i, e := range list {
		h := Hook{Name: e.Name, URL: e.URL, Command: e.Command, On: e.On, Only: e.Only, User: e.User, Private: e.Private}
		if e.Secret != "" {
			var err error
			if h.Secret, err = secret(e.Secret); err != nil {
				return nil, fmt.Errorf("%s: secret of hook %s: %w", name, e.Name, err)
			}
		}
		if err := h.Check(); err != nil {
			return nil, fmt.Errorf("%s: entry %d of notify: %w", name, i+1, err)
		}
		hooks = append(hooks, h)
	}
	return hooks, nil
}
