package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"harness"
	"harness/engine/internal/talk"
)

// grant is a call that was allowed, as it was when somebody was asked: what the
// agent says of it later allows no more.
type grant struct {
	call  *talk.Call
	asked update
}

// granted are the calls that were allowed and are under way.
func (r *run) granted() (all []*update) {
	open := r.tr.calls.Open()
	for i := range r.grants {
		if g := &r.grants[i]; slices.Contains(open, g.call) && !g.call.Refused() {
			all = append(all, &g.asked)
		}
	}
	return all
}

// covers reports whether a call that was allowed is about the file; for a write,
// one that edits.
func (r *run) covers(path string, write bool) bool {
	return slices.ContainsFunc(r.granted(), func(k *update) bool {
		return (!write || accessOf(k.Tool) == harness.AccessEdit) &&
			slices.ContainsFunc(k.paths(), func(p string) bool { return absolute(r.turn.Directory, p) == absolute(r.turn.Directory, path) })
	})
}

// runs reports whether a call that was allowed is this very command: in the
// workspace, and with nothing added to its environment.
func (r *run) runs(q *terminalRequest, dir string) bool {
	if dir != "." || len(q.Env) > 0 {
		return false
	}
	return slices.ContainsFunc(r.granted(), func(k *update) bool {
		var in struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
			Dir     string   `json:"cwd"`
		}
		if json.Unmarshal(k.Input, &in) != nil || in.Command == "" {
			return false
		}
		if in.Dir != "" && absolute(r.turn.Directory, in.Dir) != r.turn.Directory {
			return false
		}
		if in.Command == q.Command && slices.Equal(in.Args, q.Args) {
			return true
		}
		return len(in.Args) == 0 && slices.Equal(words(in.Command), append([]string{q.Command}, q.Args...))
	})
}

// words are those of a command line that means the same without a shell; none if
// a shell may do more with it than cut it at blanks.
func words(line string) []string {
	for _, c := range line {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(" _-./:,@%+=", c)
		if !plain {
			return nil
		}
	}
	all := strings.Fields(line)
	if len(all) == 0 || strings.Contains(all[0], "=") { // which a shell takes for a variable
		return nil
	}
	return all
}
