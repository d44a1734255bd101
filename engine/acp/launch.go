package acp

import (
	"path/filepath"
	"slices"
	"strings"

	"harness"
	"harness/engine/internal/program"
)

// kept is what is known about a process that waits for a turn.
type kept struct {
	session   string // the agent's
	directory string
	home      string // the State that homes are in
	can       capabilities
	offer     offer
	first     map[string]string // what was chosen before anybody chose
	cost      float64           // of the conversation, or the process, when a turn last ended
}

// start starts the agent for a session.
func (r *run) start(ear *program.Listener) (*program.Process, error) {
	home, err := program.OpenHome(r.opts.State, r.turn.Directory, "acp", r.turn.Session)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	p, err := r.opts.Start(program.Launch{
		Session: r.turn.Session, Directory: r.turn.Directory, Home: home, Args: slices.Clone(r.opts.Command), Env: environ(home), Acts: acts,
		Why: about,
	}, ear)
	if err != nil {
		return nil, err
	}
	p.Kept = &kept{directory: r.turn.Directory, home: home.State}
	return p, nil
}

// about says what the protocol cannot: it has no word for an agent's own sandbox.
func about(is harness.Isolation) string {
	const alone = "what the agent does without asking is bounded by this alone: a sandbox of its own "
	if !slices.Contains(is.Enforces, harness.GuardWrite) {
		return "nothing of ours bounds what the agent does without asking: a sandbox of its own is left to it"
	}
	if slices.Contains(is.Enforces, harness.GuardSyscalls) { // that would need namespaces
		return alone + "cannot nest in it, and is off where the agent heeds its environment"
	}
	return alone + "is left to it"
}

// environ is the whole environment of a process but for TMPDIR.
func environ(h *program.Home) []string {
	env := []string{program.Path, "LANG=C.UTF-8", "HOME=" + h.Path, "GEMINI_SANDBOX=false"}
	for _, dir := range []string{"config", "data", "cache", "state"} {
		env = append(env, "XDG_"+strings.ToUpper(dir)+"_HOME="+filepath.Join(h.Path, dir))
	}
	return env
}
