package policy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"harness/internal/strict"
)

// call is what a call's arguments name: the commands it runs, the files and
// hosts it is about.
type call struct {
	directory string // the workspace, clean; "" if it is not known
	digest    func() string
	commands  []command // of a shell's line, in order; none for other tools
	shell     bool      // it has a command line, perhaps one that cannot be read
	paths     []place
	hosts     []host
	odd       string // why nobody can tell what the arguments name; "" if one can
}

// maxInput bounds the arguments that are looked at. What is larger is odd.
const maxInput = 1 << 20

// shells are the tools whose argument is a line for a shell that reads as bash
// does.
var shells = []string{"bash", "Bash", "shell", "local_shell", "exec_command", "sh"}

// Members of arguments that say what a call is about, in lower case, as the
// engines that we know have them.
var (
	commandMembers = []string{"command", "cmd"}
	pathMembers    = []string{"path", "file_path", "notebook_path", "file", "filename", "absolute_path", "relative_path", "filepath", "absolutepath", "relativepath", "notebookpath"}
	urlMembers     = []string{"url", "uri"}
	patchMembers   = []string{"patch", "diff"}
	placeMembers   = []string{"directory", "workdir", "cwd"}
)

// look reads a call's arguments.
func look(directory, tool string, input json.RawMessage) *call {
	c := &call{directory: cleanDirectory(directory), digest: func() string { return digest(input) }, shell: slices.Contains(shells, tool)}
	if len(input) == 0 {
		if c.shell {
			c.unread("it has no arguments")
		}
		return c
	}
	if err := strict.Outer(input, maxInput, 1); err != nil {
		c.unread("its arguments can be read in two ways: " + err.Error())
		return c
	}
	members, ok := membersOf(input)
	if !ok {
		c.unread("its arguments are no object")
		return c
	}
	at := place{sure: true, inside: true}
	if c.shell {
		for raw := range named(members, placeMembers) {
			at = c.place(text(raw))
		}
	}
	for raw := range named(members, pathMembers) {
		c.paths = append(c.paths, c.place(text(raw)))
	}
	if !c.shell {
		for raw := range named(members, patchMembers) {
			c.patch(text(raw))
		}
	}
	for raw := range named(members, urlMembers) {
		c.hosts = append(c.hosts, hostOf(text(raw)))
	}
	var line json.RawMessage
	lines := 0
	for raw := range named(members, commandMembers) {
		line = raw
		lines++
	}
	switch {
	case !c.shell && lines == 0:
	case !c.shell: // of a tool that we do not know
		c.shell = true
		c.unread("it is not known how its command is read")
	case lines != 1 || len(c.paths) > 0 || len(c.hosts) > 0 || c.odd != "":
		c.unread("it is not one command line")
	default:
		c.line(line, at)
	}
	return c
}

// unread says that the call's command cannot be told.
func (c *call) unread(why string) {
	c.odd = why
	if c.shell {
		c.commands = []command{{opaque: why, hidden: true}}
	}
}

// line reads the command line, which is a text or a list of words. at is where
// it runs.
func (c *call) line(raw json.RawMessage, at place) {
	var words []string
	line := ""
	if raw[0] == '[' && json.Unmarshal(raw, &words) == nil && len(words) > 0 {
		if len(words) == 3 && slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh"}, words[0]) && slices.Contains([]string{"-c", "-lc"}, words[1]) {
			line = words[2]
		}
	} else if line = text(raw); line == "" || line == "\x00" {
		c.unread("it has no command line")
		return
	}
	r := &reader{call: c, commands: make([]command, 0, 4)} // most lines have no more
	if line != "" {
		r.script(line, 0)
	} else {
		argv := make([]word, len(words))
		for i, w := range words {
			argv[i] = word{text: w, sure: true}
		}
		r.add(command{argv: argv}, 0)
	}
	if len(r.commands) > maxCommands {
		r.dark("it has too many commands")
	}
	c.commands = r.commands
	if len(c.commands) == 0 { // a comment, say
		c.commands = []command{{opaque: "it runs nothing"}}
	}
	if !at.sure || !at.inside || at.up {
		c.commands[0].opaque = "it runs outside the workspace"
	}
	moving := slices.ContainsFunc(c.commands, func(m command) bool { return m.name() == "cd" })
	if moving || at.rel != "" {
		for i := range c.commands {
			c.commands[i].moved(c, at, moving)
		}
	}
}

// patch takes the files that a patch names in its headers.
func (c *call) patch(text string) {
	found := false
	for line := range strings.SplitSeq(text, "\n") {
		for _, head := range []string{"+++ ", "--- ", "rename from ", "rename to ", "copy to ", "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\r"), head)
			if name, _, _ = strings.Cut(name, "\t"); !ok || name == "/dev/null" {
				continue
			}
			found = true
			c.paths = append(c.paths, c.place(name))
			if bare := strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/"); bare != name { // whichever is meant
				c.paths = append(c.paths, c.place(bare))
			}
		}
	}
	if !found && len(c.paths) == 0 {
		c.odd = "it names its files in a text that cannot be read"
	}
}

// text is a JSON string, or "\x00" for anything else, which nothing matches.
func text(raw json.RawMessage) string {
	var s string
	if n := len(raw); n > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) { // most are plain
		return string(raw[1 : n-1])
	}
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "\x00"
	}
	return s
}
