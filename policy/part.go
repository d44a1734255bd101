package policy

import "strings"

// parts is the number of the commands of a line; of another call, one for all of
// it.
func (c *call) parts() int { return max(1, len(c.commands)) }

func (c *call) part(i int) *command {
	if i < len(c.commands) {
		return &c.commands[i]
	}
	return nil
}

// unclear says that a call may name anything, if nobody can tell what it names.
func (c *call) unclear(part *command) match {
	if part == nil && c.odd != "" {
		return maybe
	}
	return no
}

// filesOf are the files that a part of a call names. A command's are those of
// its redirections, and words that may be files.
func (c *call) filesOf(part *command) []place {
	if part == nil {
		return c.paths
	}
	if part.read { // every rule asks
		return part.named
	}
	files := append(make([]place, 0, len(part.files)+len(part.argv)), part.files...)
	for i, w := range part.argv {
		if i == 0 || !w.sure && !w.glob {
			continue
		}
		if f := c.place(w.text); f.sure {
			files = append(files, f)
		}
		if _, value, ok := strings.Cut(w.text, "="); ok {
			if f := c.place(value); f.sure {
				files = append(files, f)
			}
		}
	}
	part.read, part.named = true, files
	return files
}

// hostsOf are the hosts that a part of a call names: of a command, addresses
// among its words.
func (c *call) hostsOf(part *command) []host {
	if part == nil {
		return c.hosts
	}
	var hosts []host
	for _, w := range part.argv {
		if i := strings.Index(w.text, "://"); i > 0 {
			start := strings.LastIndexAny(w.text[:i], "= '\"") + 1
			hosts = append(hosts, hostOf(w.text[start:]))
		}
	}
	return hosts
}
