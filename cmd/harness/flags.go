package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// flags is the flag set of one subcommand. A flag that is not given takes its
// value from the environment: HARNESS_ and its name.
type flags struct {
	*flag.FlagSet
	p *program
}

func (p *program) flags(name, args, about string, examples ...string) *flags {
	f := &flags{flag.NewFlagSet(name, flag.ContinueOnError), p}
	f.SetOutput(p.stderr)
	f.Usage = func() {
		w := f.Output()
		fmt.Fprintf(w, "%s\n\nUsage:\n  harness %s %s\n", about, name, args)
		any := false
		f.VisitAll(func(g *flag.Flag) {
			if !any {
				fmt.Fprintln(w, "\nFlags:")
				any = true
			}
			kind, text := flag.UnquoteUsage(g)
			head := strings.TrimSpace("--" + g.Name + " " + kind)
			fmt.Fprintf(w, "  %-28s%s", head, text)
			if g.DefValue != "" && g.DefValue != "false" && g.DefValue != "0s" && g.DefValue != "0" {
				fmt.Fprintf(w, " (default %s)", g.DefValue)
			}
			fmt.Fprintln(w)
		})
		for i, e := range examples {
			if i == 0 {
				fmt.Fprintln(w, "\nExamples:")
			}
			fmt.Fprintln(w, "  "+e)
		}
	}
	return f
}

// parse reads the command line, then the environment, and checks the number of
// arguments; most < 0 means any.
func (f *flags) parse(args []string, least, most int) error {
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError
	}
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	var bad error
	f.VisitAll(func(g *flag.Flag) {
		key := "HARNESS_" + strings.ToUpper(strings.ReplaceAll(g.Name, "-", "_"))
		if v := f.p.getenv(key); v != "" && !given[g.Name] && bad == nil {
			if err := g.Value.Set(v); err != nil {
				bad = fmt.Errorf("%s: %w", key, err)
			}
		}
	})
	if bad != nil {
		return bad
	}
	if n := f.NArg(); n < least || most >= 0 && n > most {
		fmt.Fprintf(f.Output(), "harness %s: wrong number of arguments\n\n", f.Name())
		f.Usage()
		return usageError
	}
	return nil
}
