package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"harness"
)

// ErrTimeout is what Run's error wraps when a call had its time and did not end.
var ErrTimeout = errors.New("timed out")

// ExitError is a command that ended with something else than zero.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	// killGrace is the time that a command has to clean up when it must end.
	killGrace = 2 * time.Second
)

type bashInput struct {
	Command    string `json:"command" rule:"required max=100000" doc:"The command line, as bash reads it."`
	Timeout    int    `json:"timeout_seconds" rule:"min=1 max=600" doc:"Seconds until the command and all that it started are killed. Default 120."`
	Directory  string `json:"directory" rule:"max=4096" doc:"Where it runs: a directory of the workspace. Default: the workspace itself. cd does not last beyond the call."`
	Background bool   `json:"run_in_background" doc:"Leave it running and return at once with its name, for bash_output and bash_kill. It has no timeout, and ends with the session."`
}

// NewBash returns the shell.
func NewBash() Tool {
	return define("bash", `Runs a command line in a fresh shell inside the workspace's sandbox and returns what it printed and its exit code.
Nothing can be typed into it: give answers as options or files. What the command leaves running is killed when it returns; to keep a server running, use run_in_background.
Prefer read, edit, glob and grep for files: they are faster and bounded.`, planBash, runBash)
}

func planBash(env *Env, in *bashInput) (Plan, error) {
	if strings.ContainsRune(in.Command, 0) {
		return Plan{}, errors.New("command has a NUL byte")
	}
	if in.Background && in.Timeout != 0 {
		return Plan{}, errors.New("timeout_seconds has no meaning with run_in_background; leave it out")
	}
	if in.Directory != "" {
		if _, err := locate(env, in.Directory); err != nil {
			return Plan{}, err
		}
	}
	hints := inspect(in.Command)
	p := Plan{Access: harness.AccessExecute, Destructive: len(hints) > 0, Summary: "run " + oneLine(in.Command, 200)}
	if in.Background {
		p.Summary += " in the background"
	}
	if len(hints) > 0 {
		p.Summary += " (" + strings.Join(hints, "; ") + ")"
	}
	return p, nil
}

// launcher runs its argument with bash where there is one.
const launcher = `if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; fi; exec /bin/sh -c "$1"`

// process is the command as the sandbox runs it: nobody is there to type, to
// turn pages or to see colours.
func (in *bashInput) process(dir string) harness.Process {
	return harness.Process{
		Args: []string{"/bin/sh", "-c", launcher, "sh", in.Command}, Dir: dir, Grace: killGrace,
		Env: []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true"},
	}
}

func runBash(ctx context.Context, env *Env, in *bashInput) (Result, error) {
	dir, err := workingDirectory(env, in.Directory)
	if err != nil {
		return Result{}, err
	}
	if in.Background {
		j, err := env.State.start(ctx, env.Workspace, in.process(dir), in.Command)
		if err != nil {
			return Result{}, err
		}
		return Result{Text: fmt.Sprintf("%s runs in the background; bash_output shows what it prints, bash_kill ends it", j.id), Data: data(map[string]string{"id": j.id})}, nil
	}
	timeout := defaultTimeout
	if in.Timeout > 0 {
		timeout = time.Duration(in.Timeout) * time.Second
	}
	return foreground(ctx, env, in.process(dir), timeout)
}

// foreground runs a process to its end.
func foreground(ctx context.Context, env *Env, p harness.Process, timeout time.Duration) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %v; the command and all that it started were killed", ErrTimeout, timeout))
	defer cancel()
	out := newCapture(env.Log)
	p.Stdout, p.Stderr = out.stream("stdout"), out.stream("stderr")
	began := time.Now()
	child, err := env.Workspace.Start(ctx, p)
	if err != nil {
		return Result{}, cause(ctx, err)
	}
	exit, err := child.Wait()
	if err != nil {
		return Result{Text: out.take()}, fmt.Errorf("the sandbox: %w", err)
	}
	err = outcome(ctx, exit)
	text := strings.TrimSuffix(out.take(), "\n")
	switch {
	case err != nil && text == "":
		text = "[" + err.Error() + "]"
	case err != nil:
		text += "\n[" + err.Error() + "]"
	case text == "":
		text = "[no output, exit code 0]"
	}
	return Result{Text: text, Data: data(map[string]any{"exit_code": exit.Code, "milliseconds": time.Since(began).Milliseconds()})}, err
}

// outcome says what is wrong with how a process ended.
func outcome(ctx context.Context, exit harness.Exit) error {
	switch exit.Cause {
	case harness.ExitCancelled:
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return errors.New("killed: the workspace was closed")
	case harness.ExitWallTime:
		return fmt.Errorf("%w: the workspace's limit of time", ErrTimeout)
	case harness.ExitOutput:
		return errors.New("killed: it printed more than the workspace allows")
	case harness.ExitMemory:
		return fmt.Errorf("exit code %d: the workspace was out of memory", exit.Code)
	}
	if exit.Code != 0 {
		return &ExitError{exit.Code}
	}
	return nil
}

// cause is why something that takes a context failed.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil && errors.Is(err, ctx.Err()) {
		return why
	}
	return err
}

// oneLine is the beginning of a text, for people, on one line.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > most {
		s = s[:wholeRunes([]byte(s[:most]))] + "…"
	}
	return s
}
