package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"harness"
	"harness/custody"
	remoteengine "harness/engine/remote"
)

// housing is what engines may need of the program that runs them.
type housing struct {
	log     *slog.Logger
	secrets secrets
	book    *custody.Book // of processes that may outlive this one; nil without a data directory
	runners string        // where local runners have their sockets
	token   *string       // --runner-token
	source  func(ctx context.Context, source string) (string, error)
}

func (f *flags) housing() *housing {
	return &housing{
		token:  f.String("runner-token", "", "where the token of the runner at --engine URL is (`SOURCE`): file:PATH, command:ARGV or env:NAME"),
		source: f.p.secret,
	}
}

// settle gives a process that has a data directory its book.
func (h *housing) settle(data string, log *slog.Logger, hidden secrets) (err error) {
	h.log, h.secrets, h.runners = log, hidden, filepath.Join(data, "runners")
	if h.runners, err = filepath.Abs(h.runners); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	h.book, err = custody.Open(filepath.Join(filepath.Dir(h.runners), "custody"))
	return err
}

// reconcile ends the processes of an earlier life that no turn needs.
func (h *housing) reconcile(ctx context.Context, store harness.Store) error {
	busy := map[harness.SessionID]bool{}
	for sum, err := range store.List(ctx, harness.Filter{Statuses: []harness.Status{harness.Running, harness.AwaitingApproval, harness.Recovering}}) {
		if err != nil {
			return fmt.Errorf("reconcile processes: %w", err)
		}
		busy[sum.Session] = true
	}
	killed, err := h.book.Reconcile(ctx, func(e custody.Entry) bool { return busy[e.Session] })
	for _, e := range killed {
		h.log.Info("ended a process that no turn needs", "session", e.Session, "role", e.Role, "pid", e.PID)
	}
	return err
}

// elsewhere is the engine of a runner at a URL.
func (h *housing) elsewhere(url string) (harness.Engine, error) {
	token := ""
	if h.token != nil && *h.token != "" {
		var err error
		if token, err = h.source(context.Background(), *h.token); err == nil {
			err = h.secrets.Add(token)
		}
		if err != nil {
			return nil, fmt.Errorf("--runner-token: %w", err)
		}
	}
	return remoteengine.Open(url, token)
}

// nearby is another engine in a process of its own for each session.
func (h *housing) nearby(inner string) (harness.Engine, error) {
	if h.book == nil {
		return nil, fmt.Errorf("--engine runner:%s: runners need a server with a data directory: %w", inner, harness.ErrUnsupported)
	}
	if kind, _ := split(inner); kind == "runner" || kind == "http" || kind == "https" {
		return nil, fmt.Errorf("--engine runner:%s: a runner does the work itself: %w", inner, harness.ErrInvalid)
	}
	_, eng, err := openEngine(inner, h) // to know now whether it can be, and what it can do
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if runtime.GOOS == "linux" {
		program = "/proc/self/exe" // this one, also if there is another in its place now
	}
	return remoteengine.Local(remoteengine.LocalOptions{
		Dir: h.runners, Book: h.book, Abilities: eng.Abilities(), Version: version(), Log: h.log,
		Command: func(socket string) *exec.Cmd {
			cmd := exec.Command(program, "runner", "--handover", "--socket", socket, "--engine", inner)
			cmd.Args[0] = "harness"
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HARNESS_") })
			return cmd
		},
	})
}
