// Package sandbox chooses where processes run.
//
// A choice is the result of trying: a sandbox counts only if it has just run a
// process under its real profile. What was asked for, what was got, what that
// enforces and what it lacks is the content of a sandbox_notice, and nothing is
// weakened without one.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"harness"
)

// Candidate is a sandbox that can be asked for by name.
type Candidate struct {
	Name    string
	Sandbox harness.Sandbox
	// Auto says that it may be chosen without being named. The order of the
	// candidates is the order of preference.
	Auto bool
}

// Requirement says what may happen when the sandbox that was asked for does not
// work.
type Requirement string

// Requirements.
const (
	Preferred Requirement = "preferred" // the next candidate is taken, and the notice says so
	Required  Requirement = "required"  // it is an error; auto then wants real isolation
)

// Auto is the name under which the first candidate that works is meant.
const Auto = "auto"

// DefaultLimits are those of a session that has no others: room for a compiler,
// not for a fork bomb.
var DefaultLimits = harness.Limits{
	Pids:     1024,
	Memory:   8 << 30,
	WallTime: 2 * time.Hour,
	Output:   64 << 20,
}

// ErrNone says that no sandbox does what is required.
var ErrNone = errors.New("no such sandbox here")

// Choose tries candidates and returns the first that works. If name is Auto,
// all that may be chosen so are tried in their order; otherwise the named one,
// and after it, unless it is required, those.
func Choose(ctx context.Context, name string, need Requirement, candidates []Candidate) (harness.Sandbox, harness.SandboxNotice, error) {
	notice := harness.SandboxNotice{RequestedBackend: name}
	order, err := order(name, need, candidates)
	if err != nil {
		return nil, notice, err
	}
	var failed []string
	for _, c := range order {
		is, err := c.Sandbox.Probe(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, notice, ctx.Err()
		case err != nil:
			failed = append(failed, c.Name+" does not work here: "+err.Error())
			continue
		case need == Required && name == Auto && is.Kind == KindNone:
			failed = append(failed, c.Name+" isolates nothing")
			continue
		}
		notice.ResolvedBackend = c.Name
		describe(&notice, is, failed)
		return c.Sandbox, notice, nil
	}
	return nil, notice, fmt.Errorf("sandbox %s: %w: %s", name, ErrNone, strings.Join(failed, "; "))
}

// KindNone is the kind of isolation that is none.
const KindNone = "none"

func order(name string, need Requirement, candidates []Candidate) ([]Candidate, error) {
	auto := slices.DeleteFunc(slices.Clone(candidates), func(c Candidate) bool { return !c.Auto || c.Name == name })
	if name == Auto {
		return auto, nil
	}
	i := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("sandbox %q: %w", name, ErrNone)
	}
	if need == Required {
		return candidates[i : i+1], nil
	}
	return append([]Candidate{candidates[i]}, auto...), nil
}

// Notice says what holds in a workspace that was opened in the sandbox of a
// choice; it can be less than the choice said.
func Notice(chosen harness.SandboxNotice, w harness.Workspace) harness.SandboxNotice {
	describe(&chosen, w.Isolation(), nil)
	return chosen
}

// describe enters what holds, and in words what does not. Earlier reasons stay.
func describe(n *harness.SandboxNotice, is harness.Isolation, failed []string) {
	n.Isolation, n.Enforces, n.Lacks = is.Kind, words(is.Enforces), words(is.Lacks)
	reasons := append([]string{n.Reason}, failed...)
	if !strings.Contains(n.Reason, is.Reason) {
		reasons = append(reasons, is.Reason)
	}
	said := strings.Join(reasons, "; ")
	var open []string
	for _, g := range harness.Guarantees {
		if slices.Contains(is.Lacks, g.Name) && !strings.Contains(said, g.Text) {
			open = append(open, g.Text)
		}
	}
	if len(open) > 0 {
		reasons = append(reasons, notEnforced+strings.Join(open, "; "))
	}
	n.Reason = strings.Join(slices.DeleteFunc(reasons, func(r string) bool { return r == "" }), "; ")
}

// notEnforced comes before the words of guarantees that are not given.
const notEnforced = "not enforced: "

func words(gs []harness.Guarantee) (out []string) {
	for _, g := range gs {
		out = append(out, string(g))
	}
	return out
}
