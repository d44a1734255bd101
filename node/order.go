package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"harness"
)

// order is a command on its way to the session's owner, in a form that nodes of
// neighbouring versions understand: a kind that is not known is answered with
// ErrUnsupported, and fields that are not known are passed over.
type order struct {
	Kind string          `json:"kind"`
	Body json.RawMessage `json:"body,omitempty"`
}

// answer is what came of it.
type answer struct {
	Receipt harness.Receipt `json:"receipt"`
	Code    string          `json:"code,omitempty"` // of the closed set
	Text    string          `json:"text,omitempty"`
}

// removal is the order to forget a session.
const removal = "remove"

// kind is a command as nodes tell it one another.
type kind struct {
	name string
	read func(body json.RawMessage) (harness.Command, error)
	own  func(cmd harness.Command, key string) (as harness.Command, ok bool) // ok: it is of this kind
}

// commands has a row for each. Where key is, a command that had none gets one, so
// that it takes effect once however often it is carried out.
var commands = []kind{
	row("submit", func(c *harness.Submit) *string { return &c.ClientKey }),
	row("steer", func(c *harness.Steer) *string { return &c.ClientKey }),
	row("cancel", func(c *harness.Cancel) *string { return &c.ClientKey }),
	row("answer", func(*harness.Answer) *string { return nil }), // the first decision wins, and the same again is fine
	row("configure", func(c *harness.Configure) *string { return &c.ClientKey }),
	row("rewind", func(c *harness.Rewind) *string { return &c.ClientKey }),
	row("pause", func(c *harness.Pause) *string { return &c.ClientKey }),
	row("resume", func(c *harness.Resume) *string { return &c.ClientKey }),
}

func row[C harness.Command](name string, where func(*C) *string) kind {
	return kind{
		name: name,
		read: func(body json.RawMessage) (harness.Command, error) {
			var c C
			err := json.Unmarshal(body, &c)
			return c, err
		},
		own: func(cmd harness.Command, key string) (harness.Command, bool) {
			c, ok := cmd.(C)
			if k := where(&c); k != nil && *k == "" {
				*k = key
			}
			return c, ok
		},
	}
}

// encode writes a command that carries a key.
func encode(cmd harness.Command, key string) ([]byte, error) {
	for _, k := range commands {
		c, ok := k.own(cmd, key)
		if !ok {
			continue
		}
		body, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		return json.Marshal(order{k.name, body})
	}
	return nil, fmt.Errorf("order %T: %w", cmd, harness.ErrUnsupported)
}

// decode is encode's inverse. No command is a removal.
func decode(body []byte) (cmd harness.Command, err error) {
	var o order
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, fmt.Errorf("an order that is none: %w: %w", err, harness.ErrInvalid)
	}
	if o.Kind == removal {
		return nil, nil
	}
	i := slices.IndexFunc(commands, func(k kind) bool { return k.name == o.Kind })
	if i < 0 {
		return nil, fmt.Errorf("order %q: %w", o.Kind, harness.ErrUnsupported)
	}
	if cmd, err = commands[i].read(o.Body); err != nil {
		return nil, fmt.Errorf("order %q: %w: %w", o.Kind, err, harness.ErrInvalid)
	}
	return cmd, nil
}

// reply is the answer of who carried an order out. What only the operator of
// that node may read stays there.
func reply(r harness.Receipt, err error) []byte {
	a := answer{Receipt: r}
	if err != nil {
		a = answer{Code: harness.AsError(err).Code, Text: harness.ClientText(err)}
	}
	text, err := json.Marshal(a)
	if err != nil {
		text, _ = json.Marshal(answer{Code: harness.ErrInternal.Code, Text: harness.ErrInternal.Text})
	}
	return text
}

// outcome is reply's inverse.
func outcome(text []byte) (harness.Receipt, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return harness.Receipt{}, fmt.Errorf("an answer that is none: %w", err)
	}
	if a.Code == "" {
		return a.Receipt, nil
	}
	for _, e := range harness.Errors() {
		if e.Code == a.Code {
			return harness.Receipt{}, &told{a.Text, e}
		}
	}
	return harness.Receipt{}, errors.Join(errors.New(a.Text), harness.ErrInternal)
}

// told is an error of another node, in its words.
type told struct {
	text string
	of   *harness.Error
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.of }
