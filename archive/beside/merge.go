package beside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"harness"
)

// merge gives a text the entries of another that it lacks, and says whether
// there was one. An entry of the same name that is another is ErrExists; if only
// what has become of it is, the later one stays.
func (p paper) merge(into, from []byte) (text []byte, changed bool, err error) {
	has, err := p.read(into)
	if err != nil {
		return nil, false, err
	}
	more, err := p.read(from)
	if err != nil {
		return nil, false, err
	}
	for _, m := range p.members() {
		for _, e := range more.lists[m] {
			at, i := has.find(e.name)
			switch {
			case i < 0:
				has.lists[m] = append(has.lists[m], e)
			case at == m && alike(has.lists[m][i].text, e.text):
				continue
			default:
				later, err := p.later(e, has.lists[at][i])
				if err != nil {
					return nil, false, err
				}
				if !later {
					continue
				}
				has.lists[at][i] = e
			}
			changed = true
		}
	}
	text, err = p.write(has)
	return text, changed, err
}

// later reports whether an entry says what became of another up to a later time.
// Up to the same time the other is as good: the sessions that both lead to are the
// same.
func (p paper) later(e, than entry) (bool, error) {
	one, at, err := p.still(e)
	if err != nil {
		return false, err
	}
	other, was, err := p.still(than)
	if err != nil {
		return false, err
	}
	if len(p.moves) == 0 || !alike(one, other) {
		return false, fmt.Errorf("%s: there is another %s: %w", p.place, e.name, harness.ErrExists)
	}
	return at.After(was), nil
}

// still is an entry without what has become of it, and up to when that is.
func (p paper) still(e entry) (rest json.RawMessage, done time.Time, err error) {
	var members map[string]json.RawMessage
	err = json.Unmarshal(e.text, &members)
	if at, ok := members[doneAt]; ok && err == nil && len(p.moves) > 0 {
		err = json.Unmarshal(at, &done)
	}
	if err != nil {
		return nil, done, p.damaged(err)
	}
	for _, m := range p.moves {
		delete(members, m)
	}
	rest, err = json.Marshal(members)
	return rest, done, err
}

// within reports the first entry of a text that another lacks, or has otherwise.
func (p paper) within(from, to []byte) error {
	_, lacking, err := p.merge(to, from)
	if err == nil && lacking {
		err = fmt.Errorf("%s: an entry is missing or another: %w", p.place, harness.ErrCorrupt)
	}
	return err
}

// alike reports whether two values are the same, however they are written.
func alike(a, b json.RawMessage) bool {
	canonical := func(text json.RawMessage) string {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return string(text)
		}
		b, err := json.Marshal(v)
		if err != nil {
			return string(text)
		}
		return string(b)
	}
	return canonical(a) == canonical(b)
}
