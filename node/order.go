package node

import (
	"encoding/json"
	"errors"
	"fmt"

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

// kinds says how each command is read back.
var kinds = map[string]func(json.RawMessage) (harness.Command, error){
	"submit":    read[harness.Submit],
	"steer":     read[harness.Steer],
	"cancel":    read[harness.Cancel],
	"answer":    read[harness.Answer],
	"configure": read[harness.Configure],
	"rewind":    read[harness.Rewind],
	"pause":     read[harness.Pause],
	"resume":    read[harness.Resume],
}

func read[C harness.Command](body json.RawMessage) (harness.Command, error) {
	var c C
	err := json.Unmarshal(body, &c)
	return c, err
}

// encode writes a command that carries a key of its own if it had none, so that
// it takes effect once however often it is carried out. An answer needs none: the
// first decision wins, and the same again is fine.
func encode(cmd harness.Command, key string) ([]byte, error) {
	kind := ""
	own := func(k *string) {
		if *k == "" {
			*k = key
		}
	}
	switch c := cmd.(type) {
	case harness.Submit:
		own(&c.ClientKey)
		kind, cmd = "submit", c
	case harness.Steer:
		own(&c.ClientKey)
		kind, cmd = "steer", c
	case harness.Cancel:
		own(&c.ClientKey)
		kind, cmd = "cancel", c
	case harness.Answer:
		kind = "answer"
	case harness.Configure:
		own(&c.ClientKey)
		kind, cmd = "configure", c
	case harness.Rewind:
		own(&c.ClientKey)
		kind, cmd = "rewind", c
	case harness.Pause:
		own(&c.ClientKey)
		kind, cmd = "pause", c
	case harness.Resume:
		own(&c.ClientKey)
		kind, cmd = "resume", c
	default:
		return nil, fmt.Errorf("order %T: %w", cmd, harness.ErrUnsupported)
	}
	body, err := json.Marshal(cmd)
	if err != nil {
		return nil, err
	}
	return json.Marshal(order{kind, body})
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
	of, ok := kinds[o.Kind]
	if !ok {
		return nil, fmt.Errorf("order %q: %w", o.Kind, harness.ErrUnsupported)
	}
	if cmd, err = of(o.Body); err != nil {
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
