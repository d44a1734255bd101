package tool

import (
	"slices"
	"strings"
)

// program is one that writes files which its arguments name.
type program struct {
	name    string
	words   string   // which of its arguments that are no options: all, last or rest (all but the first)
	values  []string // options whose value is a file that it writes
	skipped []string // options whose value is something else
	scripts []string // options whose value is what is to be done; without one it is the first word
	only    string   // it writes only with this option
}

// writers are those that are known. What is not here may write, too.
var writers = []program{
	{name: "tee", words: "all"},
	{name: "touch", words: "all", skipped: []string{"-d", "-t", "-r"}},
	{name: "truncate", words: "all", skipped: []string{"-s", "-r"}},
	{name: "mkdir", words: "all", skipped: []string{"-m"}},
	{name: "mkfifo", words: "all", skipped: []string{"-m"}},
	{name: "rm", words: "all"},
	{name: "rmdir", words: "all"},
	{name: "unlink", words: "all"},
	{name: "shred", words: "all", skipped: []string{"-n", "-s"}},
	{name: "mv", words: "all", values: []string{"-t", "--target-directory"}, skipped: []string{"-S"}},
	{name: "cp", words: "last", values: []string{"-t", "--target-directory"}, skipped: []string{"-S"}},
	{name: "install", words: "last", values: []string{"-t", "--target-directory"}, skipped: []string{"-m", "-o", "-g", "-S"}},
	{name: "ln", words: "last", values: []string{"-t", "--target-directory"}, skipped: []string{"-S"}},
	{name: "rsync", words: "last", skipped: []string{"-e", "-f"}},
	{name: "scp", words: "last", skipped: []string{"-P", "-i", "-o", "-F", "-l", "-S", "-c", "-J"}},
	{name: "chmod", words: "rest"},
	{name: "chown", words: "rest"},
	{name: "chgrp", words: "rest"},
	{name: "sed", words: "rest", only: "-i", scripts: sedScripts},
	{name: "sed", words: "rest", only: "--in-place", scripts: sedScripts},
	{name: "perl", words: "rest", only: "-i", scripts: []string{"-e", "-E"}},
	{name: "dd", values: []string{"of="}},
	{name: "sort", values: []string{"-o", "--output"}},
	{name: "curl", values: []string{"-o", "--output", "--output-dir"}},
	{name: "wget", values: []string{"-O", "--output-document", "-P", "--directory-prefix"}},
	{name: "tar", values: []string{"-C", "--directory"}, only: "-x"},
	{name: "tar", values: []string{"-f", "--file"}, only: "-c"},
	{name: "unzip", values: []string{"-d"}},
}

var sedScripts = []string{"-e", "-f", "--expression", "--file"}

// of adds the files that the program writes with such arguments.
func (p program) of(w *writer, args []string) {
	var rest []string
	targets, scripted := false, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if value, ok := valueOf(a, p.values); ok {
			if value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			w.file(value)
			targets = true
			continue
		}
		if value, ok := valueOf(a, p.scripts); ok && !strings.HasPrefix(a, "-i") { // which has a suffix in itself
			if value == "" && !strings.Contains(a, "=") {
				i++
			}
			scripted = true
			continue
		}
		switch {
		case a == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case slices.Contains(p.skipped, a):
			i++
		case !strings.HasPrefix(a, "-") || a == "-":
			rest = append(rest, a)
		}
	}
	switch {
	case p.words == "last" && (targets || len(rest) < 2):
		return
	case p.words == "last":
		rest = rest[len(rest)-1:]
	case p.words == "rest" && len(rest) > 0 && !scripted:
		rest = rest[1:]
	case p.words == "":
		return
	}
	for _, name := range rest {
		w.file(name)
	}
}

// dashed are the arguments of tar with its letters as options: they need no dash,
// and then the archive is the next argument wherever the f is.
func dashed(args []string) []string {
	if len(args) == 0 || args[0] == "" || strings.HasPrefix(args[0], "-") {
		return args
	}
	letters := "-" + args[0]
	if strings.Contains(letters, "f") {
		letters = strings.ReplaceAll(letters, "f", "") + "f"
	}
	return append([]string{letters}, args[1:]...)
}

// valueOf reports whether an argument is one of some options, and the value that
// it has in itself; "" if that is the next argument.
func valueOf(arg string, options []string) (value string, ok bool) {
	for _, o := range options {
		switch {
		case arg == o:
			return "", true
		case strings.HasSuffix(o, "=") && strings.HasPrefix(arg, o):
			return arg[len(o):], true
		case strings.HasPrefix(o, "--") && strings.HasPrefix(arg, o+"="):
			return arg[len(o)+1:], true
		case len(o) == 2 && o[0] == '-' && strings.HasPrefix(arg, o) && arg[1] != '-':
			return arg[2:], true
		case len(o) == 2 && o[0] == '-' && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && arg[len(arg)-1] == o[1]: // the last of several letters
			return "", true
		}
	}
	return "", false
}
