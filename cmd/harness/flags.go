package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// flags is the flag set of one subcommand. A flag that is not given takes its
// value from the environment: HARNESS_ and its name.
type flags struct {
	*flag.FlagSet
	p        *program
	usage    string
	about    string
	examples []string
	args     []string // what is not a flag, in order
}

func (p *program) flags(name, usage, about string, examples ...string) *flags {
	p.name = name
	f := &flags{flag.NewFlagSet(name, flag.ContinueOnError), p, usage, about, examples, nil}
	f.SetOutput(io.Discard) // errors and help are printed here, help where it was asked for
	return f
}

// help is the text of --help.
func (f *flags) help(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", f.about, strings.TrimSpace("harness "+f.Name()+" "+f.usage))
	title := "\nFlags:\n"
	f.VisitAll(func(g *flag.Flag) {
		kind, text := flag.UnquoteUsage(g)
		fmt.Fprintf(w, "%s  %-29s%s", title, strings.TrimSpace("--"+g.Name+" "+strings.ToUpper(kind)), text)
		if d := g.DefValue; d != "" && d != "false" && d != "0s" && d != "0" {
			fmt.Fprintf(w, " (default %s)", d)
		}
		fmt.Fprintln(w)
		title = ""
	})
	for i, e := range f.examples {
		if i == 0 {
			fmt.Fprintln(w, "\nExamples:")
		}
		fmt.Fprintln(w, "  "+e)
	}
}

// parse reads the command line, on which flags and arguments may come in any
// order, then the environment, and checks the number of arguments; most < 0
// means any.
func (f *flags) parse(args []string, least, most int) error {
	for len(args) > 0 {
		if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
			f.help(f.p.stdout)
			return err
		} else if err != nil {
			return f.mistake(dashes(err.Error()))
		}
		rest := f.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			f.args = append(f.args, rest...)
			break
		}
		f.args, args = append(f.args, rest[0]), rest[1:]
	}
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	var bad error
	f.VisitAll(func(g *flag.Flag) {
		key := "HARNESS_" + strings.ToUpper(strings.ReplaceAll(g.Name, "-", "_"))
		if v := f.p.getenv(key); v != "" && !given[g.Name] && bad == nil {
			if err := g.Value.Set(v); err != nil {
				bad = f.mistake(fmt.Sprintf("invalid value %q of %s: %v", v, key, err))
			}
		}
	})
	if bad != nil {
		return bad
	}
	switch n := len(f.args); {
	case n < least:
		return f.mistake("an argument is missing: " + strings.TrimPrefix(f.usage, "[flags] "))
	case most >= 0 && n > most:
		return f.mistake(fmt.Sprintf("unexpected argument %q", f.args[most]))
	}
	return nil
}

// mistake tells what is wrong with the command line, and where to read on.
func (f *flags) mistake(text string) error {
	fmt.Fprintf(f.p.stderr, "harness %s: %s\nSee harness %s --help.\n", f.Name(), text, f.Name())
	return errUsage
}

// dashes spells flags as the help does.
func dashes(text string) string {
	return strings.NewReplacer("flag provided but not defined: -", "unknown flag --", "argument: -", "argument: --", "flag -", "flag --").Replace(text)
}

// again is the flags that were given, as a command line, but for some.
func (f *flags) again(but ...string) (args []string) {
	f.Visit(func(g *flag.Flag) {
		if slices.Contains(but, g.Name) {
			return
		}
		values := []string{g.Value.String()}
		if many, ok := g.Value.(interface{ all() []string }); ok {
			values = many.all()
		}
		for _, v := range values {
			args = append(args, "--"+g.Name+"="+v)
		}
	})
	return args
}
