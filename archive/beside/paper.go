package beside

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"harness"
	"harness/gateway/secret"
	shared "harness/internal/paper"
)

// paper is a text with lists of entries, each of which has a name of its own.
type paper struct {
	place string
	file  string   // in a data directory
	key   string   // of an entry's name
	lists []string // the members that are lists; none: the text is one
	count func(*Counted) *int

	max   int      // in a data directory; 0: as for any file
	moves []string // the members of an entry that say what has become of it up to doneAt, which is one of them
}

// doneAt is up to when it is known what has become of a schedule.
const doneAt = "done"

var papers = []paper{
	{place: "schedules", file: "schedules/schedules.json", key: "schedule_id", moves: []string{doneAt, "starts", "waits", "last", "outcome"}, count: func(c *Counted) *int { return &c.Schedules }},
	{place: "hooks", file: "notify/hooks.json", key: "name", count: func(c *Counted) *int { return &c.Webhooks }},
	{place: "access/tokens", file: "tokens.json", key: "name", lists: []string{"tokens", "scoped"}, max: secret.MaxFile, count: func(c *Counted) *int { return &c.Tokens }},
}

func paperAt(place string) (paper, bool) {
	i := slices.IndexFunc(papers, func(p paper) bool { return p.place == place })
	if i < 0 {
		return paper{}, false
	}
	return papers[i], true
}

// most is how large a text may be for the servers of a keep to read it.
func (p paper) most(k Keep) int {
	if _, ok := k.(*Folder); ok {
		return cmp.Or(p.max, harness.MaxParcel)
	}
	return shared.Max
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
