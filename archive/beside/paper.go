package beside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"harness"
)

// paper is a text with lists of entries, each of which has a name of its own.
type paper struct {
	place string
	file  string   // in a data directory
	key   string   // of an entry's name
	lists []string // the members that are lists; none: the text is one
	count func(*Counted) *int

	moves bool // an entry changes with time: that of the copied store is the one that counts
}

var papers = []paper{
	{place: "schedules", file: "schedules/schedules.json", key: "schedule_id", moves: true, count: func(c *Counted) *int { return &c.Schedules }},
	{place: "hooks", file: "notify/hooks.json", key: "name", count: func(c *Counted) *int { return &c.Webhooks }},
	{place: "access/tokens", file: "tokens.json", key: "name", lists: []string{"tokens", "scoped"}, count: func(c *Counted) *int { return &c.Tokens }},
}

func paperAt(place string) (paper, bool) {
	i := slices.IndexFunc(papers, func(p paper) bool { return p.place == place })
	if i < 0 {
		return paper{}, false
	}
	return papers[i], true
}

// entry is one of a list.
type entry struct {
	name string
	text json.RawMessage
}

// sheet is a text that was read.
type sheet struct {
	members map[string]json.RawMessage // nil: it is a list
	lists   map[string][]entry         // by member; that of a list is ""
}

func (p paper) members() []string {
	if len(p.lists) == 0 {
		return []string{""}
	}
	return p.lists
}

// read takes a text apart.
func (p paper) read(text []byte) (s sheet, err error) {
	s.lists = map[string][]entry{}
	if len(p.lists) == 0 {
		s.lists[""], err = p.entries(text)
		return s, err
	}
	s.members = map[string]json.RawMessage{}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &s.members); err != nil {
			return s, p.damaged(err)
		}
	}
	for _, m := range p.lists {
		if s.lists[m], err = p.entries(s.members[m]); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (p paper) entries(text []byte) (list []entry, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, p.damaged(err)
	}
	for _, e := range all {
		var members map[string]json.RawMessage
		var name string
		if err := json.Unmarshal(e, &members); err != nil {
			return nil, p.damaged(err)
		}
		if err := json.Unmarshal(members[p.key], &name); err != nil || name == "" {
			return nil, p.damaged(fmt.Errorf("an entry has no %s", p.key))
		}
		list = append(list, entry{name, e})
	}
	return list, nil
}

func (p paper) damaged(err error) error {
	return fmt.Errorf("%s: %w: %w", p.place, err, harness.ErrCorrupt)
}

// find is where an entry of a name is.
func (s sheet) find(name string) (member string, at int) {
	for m, list := range s.lists {
		if i := slices.IndexFunc(list, func(e entry) bool { return e.name == name }); i >= 0 {
			return m, i
		}
	}
	return "", -1
}

// merge gives a text the entries of another that it lacks, and says whether
// there was one. An entry of the same name that is another is ErrExists, unless
// they move.
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
			case !p.moves:
				return nil, false, fmt.Errorf("%s: there is another %s: %w", p.place, e.name, harness.ErrExists)
			default:
				has.lists[at][i] = e
			}
			changed = true
		}
	}
	text, err = p.write(has)
	return text, changed, err
}

func (p paper) write(s sheet) ([]byte, error) {
	list := func(m string) []json.RawMessage {
		all := []json.RawMessage{}
		for _, e := range s.lists[m] {
			all = append(all, e.text)
		}
		return all
	}
	if len(p.lists) == 0 {
		return json.Marshal(list(""))
	}
	for _, m := range p.lists {
		all := list(m)
		if len(all) == 0 && s.members[m] == nil && m != p.lists[0] {
			continue
		}
		text, err := json.Marshal(all)
		if err != nil {
			return nil, err
		}
		s.members[m] = text
	}
	return json.Marshal(s.members)
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
