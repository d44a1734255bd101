package codex

import (
	"path/filepath"
	"slices"
	"strings"
)

// line is what a command's shell is given to read, if it is one that rules can
// be about; else the command as it is. The program tells of commands as words
// quoted for a shell.
func line(command string) string {
	w, ok := words(command)
	if ok && len(w) == 3 && slices.Contains([]string{"bash", "sh"}, filepath.Base(w[0])) && slices.Contains([]string{"-lc", "-c"}, w[1]) {
		return w[2]
	}
	return command
}

// words undoes a quoting for the shell. It fails where a shell would do more than
// take quotes away.
func words(s string) (all []string, ok bool) {
	var b strings.Builder
	begun := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ':
			if begun {
				all = append(all, b.String())
				b.Reset()
			}
			begun = false
			continue
		case '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			b.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '"':
			for i++; ; i++ {
				if i == len(s) || s[i] == '`' || s[i] == '$' {
					return nil, false
				}
				if s[i] == '"' {
					break
				}
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\\"$`", s[i+1]) >= 0 {
					i++
				}
				b.WriteByte(s[i])
			}
		case '\\':
			if i++; i == len(s) {
				return nil, false
			}
			b.WriteByte(s[i])
		case '\n', '\t', '|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '[', '#', '~', '{', '!':
			return nil, false
		default:
			b.WriteByte(c)
		}
		begun = true
	}
	if begun {
		all = append(all, b.String())
	}
	return all, true
}

// patch is what a change of files does, in the form in which models write it.
func patch(changes []change) string {
	heads := map[string]string{"add": "*** Add File: ", "delete": "*** Delete File: ", "update": "*** Update File: "}
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for _, c := range changes {
		head := heads[c.Kind.Type]
		if head == "" {
			head = heads["update"]
		}
		b.WriteString(head + c.Path + "\n")
		if c.Kind.Move != nil && *c.Kind.Move != "" {
			b.WriteString("*** Move to: " + *c.Kind.Move + "\n")
		}
		for l := range strings.Lines(c.Diff) {
			if c.Kind.Type == "add" {
				l = "+" + l
			}
			b.WriteString(strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	b.WriteString("*** End Patch")
	return b.String()
}
