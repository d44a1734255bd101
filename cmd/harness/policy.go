package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"harness"
	"harness/gateway"
	"harness/policy"
	"harness/protocol/rest"
)

// policies tries rules out.
func policies(ctx context.Context, p *program, args []string) error {
	return p.choose(ctx, "policy", policyHelp, verbs{"test": testPolicy, "check": checkPolicy}, args)
}

const policyHelp = `Rules in a file say which tool calls run, which are asked about and which are
refused. docs/policy.md describes them.

Usage:
  harness policy test [flags] CALL  what would be decided about a call, and why
  harness policy check FILE…        whether files of rules can be read

` + "`harness policy VERB --help` tells more.\n"

// ruleFile is the flag that names the server's rules.
type ruleFile struct{ path *string }

func (f *flags) policy() ruleFile {
	return ruleFile{f.String("policy", "", "`FILE` with rules about tool calls: harness.yaml with a key policy, or one of rules alone")}
}

// ruleSource has the rules of the file and those of each workspace, as often as they are
// asked for.
type ruleSource struct {
	server *policy.Policy
	log    *slog.Logger
}

// open reads the server's file, once. Without one there are only workspaces'.
func (f ruleFile) open(log *slog.Logger) (*ruleSource, error) {
	s := &ruleSource{log: log}
	if *f.path == "" {
		return s, nil
	}
	text, err := readRules(*f.path)
	if err == nil {
		s.server, err = policy.Parse(filepath.Base(*f.path), text)
	}
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	return s, nil
}

// of is the policy of a directory. Rules of the workspace that cannot be read
// are no reason to go on without them: then everything is asked about.
func (s *ruleSource) of(directory string) *policy.Policy {
	if directory == "" {
		return policy.Join(s.server, nil, directory)
	}
	text, err := readOwnRules(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return policy.Join(s.server, nil, directory)
	}
	var own *policy.Policy
	if err == nil {
		own, err = policy.Parse(policy.WorkspaceFile, text)
	}
	if err != nil {
		s.log.Warn("the rules of a workspace cannot be read; everything is asked about", "directory", directory, "err", err)
		own = policy.Unreadable(policy.WorkspaceFile, err)
	}
	return policy.Join(s.server, own, directory)
}

// readRules reads a file of rules.
func readRules(name string) ([]byte, error) {
	return readFile(os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// readOwnRules reads those of a workspace. Whoever works there may put anything
// in their place, so nothing outside of it is read, and nothing is waited for.
func readOwnRules(directory string) ([]byte, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readFile(root.OpenFile(policy.WorkspaceFile, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

func readFile(f *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file: %w", f.Name(), harness.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, policy.MaxFile+1))
}

// try answers over HTTP what would be decided in a directory in which the
// caller may have sessions, with the rules that hold for it there.
func (s *ruleSource) try(gate *gateway.Gate, standard string) func(context.Context, rest.PolicyQuestion) (rest.PolicyVerdict, error) {
	return func(ctx context.Context, q rest.PolicyQuestion) (rest.PolicyVerdict, error) {
		caller, _ := harness.CallerOf(ctx)
		dir := standard
		if q.Directory != "" || caller.Scope != "" {
			var err error
			if dir, err = gate.Directory(caller, cmp.Or(q.Directory, standard)); err != nil {
				return rest.PolicyVerdict{}, err
			}
		}
		var standing []harness.Rule
		for r, err := range gate.Rules(ctx, dir) {
			if err != nil {
				return rest.PolicyVerdict{}, err
			}
			if r.User == caller.User {
				standing = append(standing, r)
			}
		}
		c := policy.Context{Engine: q.Engine, User: caller.User, Kind: q.Kind, Mode: q.Mode, Directory: dir}
		v := policy.Decide(s.of(dir), c, nil, standing, policy.Use(dir, q.Tool, q.Input))
		return rest.PolicyVerdict{Outcome: string(v.Outcome), Rule: v.Rule, Reason: v.Reason, Source: string(v.Source), Always: policy.Bind(dir, q.Tool, q.Input)}, nil
	}
}

// Exit codes of harness policy test.
const (
	exitAsk  exitCode = 3
	exitDeny exitCode = 4
)

func testPolicy(_ context.Context, p *program, args []string) error {
	f := p.flags("policy test", "[flags] CALL", "Say what would be decided about a call, by which rule and why: the tool and its arguments, as a line, a path, an address or JSON.\n"+
		"The exit code is 0 for allow, 3 for ask and 4 for deny. What \"always\" has allowed is not looked at.",
		"harness policy test 'bash npm test && rm -rf /'", "harness policy test --policy harness.yaml --mode accept_edits 'write /etc/passwd'",
		`harness policy test --json 'fetch {"url":"https://example.com"}'`)
	file := f.policy()
	cwd := f.String("cwd", ".", "`DIR` of the workspace")
	mode := f.String("mode", string(harness.Normal), "permission `MODE` of the session: normal, accept_edits or full_auto")
	engine := f.String("engine", "", "`ENGINE` of the session")
	user := f.String("user", "", "`USER` of the session")
	kind := f.String("kind", string(harness.Chat), "`KIND` of the session: chat or background")
	asJSON := f.Bool("json", false, "print JSON")
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	m := harness.Mode(*mode)
	if err := (harness.ConfigPatch{PermissionMode: &m}).Check(); err != nil {
		return f.mistake("--mode: " + err.Error())
	}
	if k := harness.Kind(*kind); k != harness.Chat && k != harness.Background {
		return f.mistake("--kind is chat or background")
	}
	dir, err := directory(*cwd)
	if err != nil {
		return err
	}
	source, err := file.open(slog.New(slog.NewTextHandler(p.stderr, nil)))
	if err != nil {
		return err
	}
	use, err := policy.Example(dir, strings.Join(f.args, " "))
	if err != nil {
		return err
	}
	v := policy.Decide(source.of(dir), policy.Context{Engine: *engine, User: *user, Kind: harness.Kind(*kind), Mode: m, Directory: dir}, nil, nil, use)
	if err := p.printVerdict(v, *asJSON); err != nil {
		return err
	}
	switch v.Outcome {
	case policy.Ask:
		return exitAsk
	case policy.Deny:
		return exitDeny
	}
	return nil
}

func (p *program) printVerdict(v policy.Verdict, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(p.stdout).Encode(rest.PolicyVerdict{Outcome: string(v.Outcome), Rule: v.Rule, Reason: v.Reason, Source: string(v.Source)})
	}
	_, err := fmt.Fprintf(p.stdout, "%s\n  rule    %s\n", v.Outcome, visible(v.Rule))
	if err == nil && v.Reason != "" {
		_, err = fmt.Fprintf(p.stdout, "  reason  %s\n", visible(v.Reason))
	}
	return err
}

func checkPolicy(_ context.Context, p *program, args []string) error {
	f := p.flags("policy check", "FILE…", "Say whether files of rules can be read, and if not, what is wrong and in which line.",
		"harness policy check harness.yaml ~/project/.harness/policy.yaml")
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	for _, name := range f.args {
		text, err := readRules(name)
		if err != nil {
			return err
		}
		rules, err := policy.Parse(name, text)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s: %d rules\n", visible(name), rules.Len())
	}
	return nil
}
