// Command harness runs coding agents as durable sessions and serves them to
// any client. `harness help` lists what it can do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"harness"
	"harness/egress"
	"harness/sandbox"
)

// command is one subcommand.
type command struct {
	name    string
	args    string
	summary string
	run     func(ctx context.Context, p *program, args []string) error
}

// commands in the order of the help text.
var commands = []command{
	{"serve", "[flags]", "start the server", serve},
	{"run", "[flags] PROMPT", "one turn at the terminal", runTurn},
	{"attach", "[flags] [SESSION]", "follow a session and talk to it", attach},
	{"stdio", "[flags]", "speak JSON-RPC on standard input and output", stdio},
	{"runner", "[flags]", "host an engine for a server elsewhere", runRunner},
	{"sessions", "ls|show|start|pause|…", "look at stored sessions, move them, have them work by themselves", sessions},
	{"store", "migrate|check|copy", "look after the place where sessions are kept", storeVerbs},
	{"rules", "ls|rm", "what \"always\" has allowed, and taking it back", rules},
	{"policy", "test|check", "what rules say about a tool call", policies},
	{"schedule", "add|ls|rm|run", "sessions that begin by the clock", schedules},
	{"token", "add|ls|rm", "who may use the server", token},
	{"login", "[flags]", "a URL that logs a browser in", login},
	{"doctor", "[flags]", "what is exposed, to whom, and what to change", doctor},
	{"replay", "[flags] SESSION|FILE", "fold a log and print the state at any point", replay},
	{"version", "", "print the version", printVersion},
}

// program is the process as the subcommands see it, so that tests can run them
// without one.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	name           string // of the subcommand
}

func main() {
	for _, shim := range []func(args, env []string) (code int, mine bool){sandbox.Shim, egress.Shim} { // helpers of a sandbox are this program, too
		if code, mine := shim(os.Args, os.Environ()); mine {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(p.main(ctx, os.Args[1:]))
}

// errUsage is a mistake on the command line; the user has been told.
var errUsage = errors.New("usage")

// exitCode ends the process with a code of its own; the user has been told.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// main runs one subcommand and returns the exit code: 0, 1 for a failure, 2
// for a mistake on the command line, 130 if it was interrupted.
func (p *program) main(ctx context.Context, args []string) int {
	if len(args) == 0 {
		p.help(p.stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 && !strings.HasPrefix(args[1], "-") { // harness help run
			return p.main(ctx, append(args[1:], "--help"))
		}
		p.help(p.stdout)
		return 0
	case "-version", "--version":
		args = []string{"version"}
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		p.name = c.name
		err := c.run(ctx, p, args[1:])
		if code, ok := errors.AsType[exitCode](err); ok {
			return int(code)
		}
		switch {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			fmt.Fprintf(p.stderr, "harness %s: interrupted\n", p.name)
			return int(cancelled)
		}
		text := strings.TrimSuffix(err.Error(), ": "+harness.ErrInvalid.Text) // what is before says it better
		fmt.Fprintf(p.stderr, "harness %s: %s\n", p.name, visible(text))
		if hint := p.hint(harness.AsError(err)); hint != "" {
			fmt.Fprintln(p.stderr, hint)
		}
		return 1
	}
	fmt.Fprintf(p.stderr, "harness: unknown command %q\n\n", clean(args[0], 60))
	p.help(p.stderr)
	return 2
}

// hints say what a person can do about an error.
var hints = map[*harness.Error]string{
	harness.ErrLocked:  "Stop the other server, or choose another directory with --data; rules can --connect to it.",
	harness.ErrCorrupt: "Nothing was changed. Restore the file from a backup.",
	harness.ErrStorage: "Check that the directory is writable and that the disk has room.",
}

func (p *program) hint(err *harness.Error) string {
	switch p.name {
	case "run", "attach", "stdio":
		if err == harness.ErrLocked {
			return "One of run, attach and stdio works in a directory at a time. For several, start harness serve and give each --connect URL."
		}
	case "sessions import":
		if err == harness.ErrCorrupt {
			return "Nothing was changed. It takes what harness sessions export writes, or a transcript with --from."
		}
	}
	return hints[err]
}

func (p *program) help(w io.Writer) {
	fmt.Fprint(w, "Harness runs coding agents as durable sessions and lets any client watch and steer them.\n\nUsage:\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  harness %-9s%-26s%s\n", c.name, c.args, c.summary)
	}
	fmt.Fprint(w, "\nEvery flag has an environment twin: --addr is HARNESS_ADDR.\n`harness COMMAND --help` tells more.\n")
}

func printVersion(_ context.Context, p *program, args []string) error {
	f := p.flags("version", "", "Print the version.")
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "harness", version())
	return nil
}
