package main

import (
	"context"
	"fmt"
	"slices"
)

// verbs are the words that may follow a subcommand.
type verbs map[string]func(ctx context.Context, p *program, args []string) error

// choose runs the verb that args begin with, and tells what there is if it is
// none of them.
func (p *program) choose(ctx context.Context, name, help string, v verbs, args []string) error {
	if len(args) > 0 {
		if run, ok := v[args[0]]; ok {
			return run(ctx, p, args[1:])
		}
		if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
			fmt.Fprint(p.stdout, help)
			return nil
		}
		fmt.Fprintf(p.stderr, "harness %s: unknown verb %q\n\n", name, args[0])
	}
	fmt.Fprint(p.stderr, help)
	return errUsage
}
