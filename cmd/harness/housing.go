package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	same    *bool         // --runners-share-files
	most    *int          // --max-runners
	source  func(ctx context.Context, source string) (string, error)

	program *program
	brain   *brain
	fence   fence
	exit    exit
	mcp     *string
	hooks   *string
	login   *string     // --acp-auth
	data    string      // where what outlives a session is kept; empty: nothing is
	about   [][2]string // what was chosen, for people
}

func (f *flags) housing() *housing {
	return &housing{
		token:  f.String("runner-token", "", "where the token of the runner at --engine URL is (`SOURCE`): file:PATH, command:ARGV or env:NAME"),
		most:   f.Int("max-runners", remoteengine.MaxRunners, "how many processes of runner:ENGINE are kept warm (`N`); the least recently used go first"),
		same:   f.Bool("runners-share-files", false, "the runners of --engine URL,URL… work on the same files: any that is free may do a turn"),
		source: f.p.secret,

		program: f.p, brain: f.brain(), fence: f.fence(), exit: f.exit(),
		mcp:   f.String("mcp", "", "`FILE` with MCP servers for the native engine, as .mcp.json has them"),
		hooks: f.String("hooks", "", "`FILE` with commands that the native engine runs at points of a turn"),
		login: f.String("acp-auth", "", "how the agent of acp:COMMAND is to get its credentials, if it wants to be told: a `METHOD` of its own"),
	}
}

// settle gives a process that has a data directory its book.
func (h *housing) settle(data string, log *slog.Logger, hidden secrets) (err error) {
	h.log, h.secrets, h.data, h.runners = log, hidden, data, filepath.Join(data, "runners")
	if h.runners, err = filepath.Abs(h.runners); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	h.book, err = custody.Open(filepath.Join(filepath.Dir(h.runners), "custody"))
	return err
}

// reconcile ends the processes of an earlier life that no turn needs: all of
// them if other nodes may have gone on with their turns.
func (h *housing) reconcile(ctx context.Context, store harness.Store, eng harness.Engine, shared bool) error {
	busy := map[harness.SessionID]bool{}
	for sum, err := range store.List(ctx, harness.Filter{Statuses: []harness.Status{harness.Running, harness.AwaitingApproval, harness.Recovering}}) {
		if err != nil {
			return fmt.Errorf("reconcile processes: %w", err)
		}
		busy[sum.Session] = true
	}
	if e, ok := eng.(*remoteengine.Engine); ok {
		e.Tidy()
	}
	killed, err := h.book.Reconcile(ctx, func(e custody.Entry) bool { return busy[e.Session] && !shared })
	for _, e := range killed {
		h.log.Info("ended a process that no turn needs", "session", e.Session, "role", e.Role, "pid", e.PID)
	}
	return err
}

// elsewhere is the engine of runners at URLs, with commas between them.
func (h *housing) elsewhere(urls string) (harness.Engine, error) {
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
	return remoteengine.OpenPool(parts(urls), &remoteengine.PoolOptions{Token: token, SameFiles: h.same != nil && *h.same})
}

// passedOn is the flags of an engine, for the runner that hosts it.
func (h *housing) passedOn() []string {
	args := []string{"--model", *h.brain.model, "--pace", h.brain.pace.String(), "--mcp", *h.mcp, "--hooks", *h.hooks, "--acp-auth", *h.login}
	args = append(args, "--sandbox", *h.fence.name, "--sandbox-read", *h.fence.read, fmt.Sprintf("--sandbox-network=%t", *h.fence.network))
	args = append(args, "--egress-allow", *h.exit.allow, fmt.Sprintf("--egress-tokens=%d", *h.exit.tokens))
	for _, key := range h.brain.keys.all() {
		args = append(args, "--key", key)
	}
	for _, url := range h.brain.urls.all() {
		args = append(args, "--model-url", url)
	}
	return args
}

// variables are the keys that are in the environment.
func (b *brain) variables(getenv func(string) string) map[string]string {
	keys := map[string]string{}
	for name, pr := range providers {
		variable, ok := strings.CutPrefix(cmp.Or((*b.keys)[name], "env:"+pr.key), "env:")
		if value := getenv(variable); ok && variable != "" && value != "" {
			keys[variable] = value
		}
	}
	return keys
}

// nearby is another engine in a process of its own for each session.
func (h *housing) nearby(inner string) (harness.Engine, error) {
	if h.book == nil {
		return nil, fmt.Errorf("--engine runner:%s: runners need a server with a data directory: %w", inner, harness.ErrUnsupported)
	}
	if kind, _ := split(inner); kind == "runner" || kind == "http" || kind == "https" {
		return nil, fmt.Errorf("--engine runner:%s: a runner does the work itself: %w", inner, harness.ErrInvalid)
	}
	if *h.most < 1 {
		return nil, fmt.Errorf("--max-runners %d: less than one: %w", *h.most, harness.ErrInvalid)
	}
	keys := h.brain.variables(h.program.getenv) // before they are taken out of the environment
	_, eng, err := openEngine(inner, h)         // to know now whether it can be, and what it can do
	if err != nil {
		return nil, err
	}
	if c, ok := eng.(io.Closer); ok {
		c.Close()
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if runtime.GOOS == "linux" {
		program = "/proc/self/exe" // this one, also if there is another in its place now
	}
	return remoteengine.Local(remoteengine.LocalOptions{
		Dir: h.runners, Book: h.book, Most: *h.most, Abilities: eng.Abilities(), Version: version(), Log: h.log, Keys: keys, Data: h.data,
		Command: func(socket string) *exec.Cmd {
			cmd := exec.Command(program, append([]string{"runner", "--handover", "--socket", socket, "--engine", inner}, h.passedOn()...)...)
			cmd.Args[0] = "harness"
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HARNESS_") })
			return cmd
		},
	})
}
