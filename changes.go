package harness

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
)

// MaxChanged is how many files of a session are told apart; more are not
// counted. Their names would be most of a snapshot, so it has sums of them.
const MaxChanged = 512

// Changes is how much calls that ended well have changed files, by what they
// asked for. What a shell did is not among it: nobody told. Lines that were
// changed and changed again count twice, and a rewind takes nothing back.
type Changes struct {
	Files      int `json:"files,omitempty"`
	Insertions int `json:"insertions,omitempty"` // lines
	Deletions  int `json:"deletions,omitempty"`
}

// changed is Changes, and which files they were.
type changed struct {
	Changes
	Seen []byte `json:"seen,omitempty"` // sums of paths, four bytes each: a list of numbers takes longer to read than all else of a head
}

// note adds what a call with this input has done.
func (c *changed) note(input json.RawMessage) {
	for _, e := range editsIn(input) {
		h := fnv.New32a()
		h.Write([]byte(e.path))
		if sum := h.Sum(nil); c.Files < MaxChanged && !c.has(sum) {
			c.Seen = append(c.Seen, sum...)
			c.Files++
		}
		c.Insertions += e.come
		c.Deletions += e.gone
	}
}

func (c *changed) has(sum []byte) bool {
	for one := range slices.Chunk(c.Seen, len(sum)) {
		if bytes.Equal(one, sum) {
			return true
		}
	}
	return false
}

// edit is one change of a file: the lines that come, and those that go.
type edit struct {
	path       string
	come, gone int
}

// editsIn are the changes that a call asks for, whichever agent's tool it is. The
// console reads calls by the same rules.
func editsIn(input json.RawMessage) (all []edit) {
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	path := text(in, "path", "file_path", "notebook_path")
	patch := text(in, "diff", "patch")
	if p := text(in, "input"); patch == nil && p != nil && strings.HasPrefix(*p, "*** Begin Patch") {
		patch = p
	}
	if patch != nil {
		return patched(path, *patch)
	}
	if path == nil {
		return nil
	}
	if content := text(in, "content", "new_source"); content != nil {
		return []edit{{*path, len(lines(*content)), 0}}
	}
	places, several := in["edits"].([]any)
	if !several {
		places = []any{in}
	}
	for _, p := range places {
		r, _ := p.(map[string]any)
		before, after := text(r, "old_string", "old", "oldText"), text(r, "new_string", "new", "newText")
		if before != nil && after != nil {
			come, gone := lineDifference(*before, *after)
			all = append(all, edit{*path, come, gone})
		}
	}
	return all
}

// text is the first of some fields that is one.
func text(in map[string]any, names ...string) *string {
	for _, n := range names {
		if s, ok := in[n].(string); ok {
			return &s
		}
	}
	return nil
}

// patched are the changes of a patch: of each file that it names, or of path.
func patched(path *string, patch string) []edit {
	all := []edit{{}}
	if path != nil {
		all[0].path = *path
	}
	from := ""
	for _, line := range lines(patch) {
		name, named := strings.CutPrefix(line, "+++ ")
		if named = named && from != ""; named && name == "/dev/null" {
			name = from
		}
		for _, verb := range []string{"Update", "Add", "Delete"} {
			if file, ok := strings.CutPrefix(line, "*** "+verb+" File: "); ok {
				name, named = file, true
			}
		}
		from, _ = strings.CutPrefix(line, "--- ")
		if from == line {
			from = ""
		}
		last := &all[len(all)-1]
		switch {
		case named && path == nil:
			all = append(all, edit{path: strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")})
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			last.come++
		case strings.HasPrefix(line, "-"):
			last.gone++
		}
	}
	if len(all) > 1 {
		return all[1:]
	}
	return all
}
