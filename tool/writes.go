package tool

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Writes are the files that a call means to change, as its arguments name them:
// of a tool that changes a file, that file; of a patch, those of its headers; of a
// shell, those that redirections and programs known to write name, as seen from
// the workspace. A name that is known only when the command runs is not among
// them, and a program can write what its arguments do not say.
func Writes(tool string, input json.RawMessage) []string {
	var args struct {
		Path         string `json:"path"`
		FilePath     string `json:"file_path"`
		NotebookPath string `json:"notebook_path"`
		File         string `json:"file"`
		Name         string `json:"name"`
		Diff         string `json:"diff"`
		Command      string `json:"command"`
		Directory    string `json:"directory"`
	}
	if json.Unmarshal(input, &args) != nil {
		return nil
	}
	var w writer
	switch tool {
	case "write", "edit", "multi_edit", "Write", "Edit", "MultiEdit", "NotebookEdit":
	case "patch":
		if args.Path == "" {
			w.patch(args.Diff)
		}
	case "bash", "Bash":
		w.at = strings.TrimSpace(args.Directory)
		w.script(args.Command, 0)
		return w.files
	default:
		return nil
	}
	for _, name := range []string{args.Path, args.FilePath, args.NotebookPath, args.File, args.Name} {
		if name = strings.TrimSpace(name); name != "" && len(w.files) == 0 {
			w.file(name)
		}
	}
	return w.files
}

// maxWrites bounds the files that one call is looked at for.
const maxWrites = 64

// writer collects names of files.
type writer struct {
	at    string // where the command is, from the workspace
	lost  bool   // nobody knows where
	files []string
}

// file adds a name, relative to where the command is.
func (w *writer) file(name string) {
	switch {
	case name == "" || name == "-" || strings.Contains(name, unknown) || len(w.files) >= maxWrites || harmlessDevice(name):
		return
	case strings.HasPrefix(name, "~") || path.IsAbs(name):
	case w.lost:
		return
	default:
		name = path.Join(w.at, name)
	}
	if !slices.Contains(w.files, name) {
		w.files = append(w.files, name)
	}
}

// patch takes the files of a diff's headers.
func (w *writer) patch(text string) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		if isFileHeader(lines, i) {
			w.file(headerPath(lines[i], lines[i+1]))
		}
	}
}

// script takes the files of a command line.
func (w *writer) script(text string, depth int) {
	if depth > maxNested {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return
	}
	var visit func(syntax.Node) bool
	visit = func(node syntax.Node) bool {
		var stmt *syntax.Stmt
		switch n := node.(type) {
		case *syntax.Subshell:
			return w.apart(visit, n.Stmts...)
		case *syntax.CmdSubst:
			return w.apart(visit, n.Stmts...)
		case *syntax.ProcSubst:
			return w.apart(visit, n.Stmts...)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				return w.apart(visit, n.X) || w.apart(visit, n.Y)
			}
			return true
		case *syntax.Stmt:
			if n.Background {
				here := *n
				here.Background = false
				return w.apart(visit, &here)
			}
			stmt = n
		default:
			return true
		}
		for _, r := range stmt.Redirs {
			switch r.Op {
			case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
				w.file(word(r.Word))
			case syntax.DplOut:
				if to := word(r.Word); strings.Trim(to, "0123456789-") != "" {
					w.file(to)
				}
			}
		}
		if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			w.command(words(call.Args), depth)
		}
		return true
	}
	syntax.Walk(file, visit)
}

// apart looks at what runs in a shell of its own: going elsewhere there moves
// nobody here. It returns false, which is that the walk need not go there again.
func (w *writer) apart(visit func(syntax.Node) bool, stmts ...*syntax.Stmt) bool {
	at, lost := w.at, w.lost
	for _, s := range stmts {
		syntax.Walk(s, visit)
	}
	w.at, w.lost = at, lost
	return false
}

// command takes the files of one command, also of one that it carries.
func (w *writer) command(argv []string, depth int) {
	if name := path.Base(argv[0]); slices.Contains(carriers, name) {
		for i := 1; i < min(len(argv), maxCarried); i++ {
			if next := path.Base(argv[i]); slices.Contains(shells, next) || slices.ContainsFunc(writers, func(p program) bool { return p.name == next }) {
				w.command(argv[i:], depth)
				return
			}
		}
		return
	}
	name, args := path.Base(argv[0]), argv[1:]
	switch {
	case name == "cd":
		w.cd(args)
	case name == "eval":
		w.script(strings.ReplaceAll(strings.Join(args, " "), unknown, "$x"), depth+1)
	case slices.Contains(shells, name):
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				at, lost := w.at, w.lost
				w.script(strings.ReplaceAll(args[i+1], unknown, "$x"), depth+1)
				w.at, w.lost = at, lost
				return
			}
		}
	}
	if name == "tar" {
		args = dashed(args)
	}
	for _, p := range writers {
		if p.name == name && (p.only == "" || slices.ContainsFunc(args, func(a string) bool { return isOption(a, p.only) })) {
			p.of(w, args)
		}
	}
}

// cd goes elsewhere, if it can be told where.
func (w *writer) cd(args []string) {
	to := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") || a == "-" {
			to = a
		}
	}
	switch {
	case path.IsAbs(to):
		w.at, w.lost = to, false
	case to == "" || to == "-" || strings.HasPrefix(to, "~") || strings.Contains(to, unknown):
		w.lost = true
	default:
		w.at = path.Join(w.at, to)
	}
}
