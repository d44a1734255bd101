package policy

import (
	"path"
	"slices"
	"sync"
)

// WorkspaceFile is where a workspace has rules of its own, below its directory.
const WorkspaceFile = ".harness/policy.yaml"

// Join is the policy of a session in a directory: the server's rules, and those
// of the workspace's own file, either of which may be nil. Whoever works in the
// workspace can write that file, so its rules only refuse and ask: an allow of
// it is an exception from its own rules, never from others. If the server trusts
// the directory, its rules come after the server's like any others.
//
// No rule and no earlier approval lets a call that names a file beside it, in
// .harness, change that unasked.
func Join(server, workspace *Policy, directory string) *Policy {
	p := &Policy{}
	if server != nil {
		*p = *server
	}
	strict := &Policy{rules: []rule{guard()}}
	if workspace != nil {
		own := slices.Clone(workspace.rules)
		for i := range own {
			own[i].source = ByWorkspace
		}
		if server.Trusts(directory) {
			p.rules = slices.Concat(p.rules, own)
		} else {
			strict.rules = append(strict.rules, own...)
		}
		u := workspace.unattended
		if u.refuse && !p.unattended.refuse {
			p.unattended.refuse, p.unattended.path = true, u.path
		}
		if d := p.unattended.deadline; u.deadline > 0 && (d == 0 || u.deadline < d) {
			p.unattended.deadline = u.deadline
		}
	}
	p.strict = strict
	return p
}

// Trusts reports whether the server takes the rules of a directory for its own.
func (p *Policy) Trusts(directory string) bool {
	return p != nil && path.IsAbs(directory) && slices.ContainsFunc(p.trust, func(t *pathPattern) bool { return t.exact.MatchString(path.Clean(directory)) })
}

// Unreadable is the policy of a workspace whose file cannot be read: everything
// is asked about.
func Unreadable(name string, err error) *Policy {
	return &Policy{rules: []rule{{
		outcome: Ask, path: name + "#unreadable", reason: "the workspace's rules cannot be read: " + err.Error(), source: ByWorkspace, changes: true, firm: true,
	}}}
}

// guard asks before a call changes what is kept beside the workspace's files:
// its rules, what "always" has allowed, its sessions.
var guard = sync.OnceValue(func() rule {
	return rule{
		outcome: Ask, path: "builtin#rules", reason: "it may change the rules and sessions of the workspace", source: ByFile, changes: true, firm: true, surely: true, hint: ".harness",
		paths: []*pathPattern{mustPattern("./.harness/**")},
	}
})

func mustPattern(s string) *pathPattern {
	p, err := newPathPattern(s)
	if err != nil {
		panic(err)
	}
	return p
}

// Len is how many rules a policy has.
func (p *Policy) Len() int { return len(p.rules) }
