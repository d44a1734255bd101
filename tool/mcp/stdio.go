package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"syscall"

	"harness"
)

// launch starts the server's program in the workspace. When life is done the
// whole tree is killed; when the program ends, life does, with what is known of
// the reason.
func (l *link) launch(life context.Context, s *Server, workspace harness.Workspace) (*wire, error) {
	input, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close()
	out, output := io.Pipe()
	w := newWire(l, in, out)
	var env []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	child, err := workspace.Start(life, harness.Process{
		Args: append([]string{s.Command}, s.Args...), Env: env,
		Stdin: input, Stdout: output, Stderr: chatter{w}, Grace: closeGrace,
	})
	if err != nil {
		in.Close()
		return nil, err
	}
	l.running.Go(func() {
		exit, err := child.Wait()
		output.CloseWithError(ended(exit, err))
	})
	return w, nil
}

// ended puts the end of a process in words.
func ended(exit harness.Exit, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("the sandbox ended it: %w", err)
	case exit.Cause != "":
		return fmt.Errorf("the sandbox ended it: %s", exit.Cause)
	case exit.Code > 128:
		return fmt.Errorf("it was killed by signal %d", exit.Code-128)
	}
	return fmt.Errorf("it ended with exit code %d", exit.Code)
}

func isPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
