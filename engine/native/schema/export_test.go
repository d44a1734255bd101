package schema

import "encoding/json"

// MaxSteps and Counted are for tests that count the work instead of the time.
const MaxSteps = maxSteps

// Counted is Check, and how many steps it took.
func (s *Schema) Counted(input string) (fixed json.RawMessage, problems []string, steps int) {
	return s.check(json.RawMessage(input))
}

// Taker reports whether values of any kind fit a schema of any kind and draft, as
// those of the suite are: as they are, without mending.
func Taker(raw json.RawMessage, draft string) (func(value json.RawMessage) bool, error) {
	s := &Schema{top: &shape{never: string(raw) == "false"}}
	if doc, _ := decode(raw); doc != true && doc != false {
		doc.(map[string]any)["$schema"] = draft
		raw, err := json.Marshal(doc)
		if err != nil {
			return nil, err
		}
		if s, err = Compile(raw); err != nil {
			return nil, err
		}
	}
	return func(value json.RawMessage) bool {
		v, err := decode(value)
		if err != nil {
			panic(err)
		}
		r := run{steps: maxSteps, tracked: s.tracked}
		return r.takes(s.top, newItem(v))
	}, nil
}
