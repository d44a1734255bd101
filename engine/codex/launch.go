package codex

import (
	"fmt"
	"slices"
	"strconv"

	"harness"
	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// kept is what is known about a process that waits for a turn.
type kept struct {
	thread    string
	directory string
	home      string // the State that homes are in
	config    harness.Config
}

// fits reports whether a process can take the turn.
func (k *kept) fits(g talk.Goal, directory string, c harness.Config) bool {
	return g.Thread == k.thread && g.From == "" && directory == k.directory && c.SystemPrompt == k.config.SystemPrompt &&
		(c.Model != "" || k.config.Model == "") && (c.Effort != "" || k.config.Effort == "")
}

// start starts the program for a session.
func (r *run) start(g talk.Goal, ear *program.Listener) (*program.Process, error) {
	home, err := program.OpenHome(r.opts.State, r.turn.Directory, "codex", r.turn.Session)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	if g.From != "" {
		if err := home.Adopt(g.From, "sessions", nil); err != nil {
			return nil, &talk.Lost{Why: err.Error()}
		}
	}
	if err := home.Remove("rules"); err != nil { // they could allow what nobody was asked about
		return nil, err
	}
	if err := home.Write("config.toml", config(r.turn.Directory)); err != nil {
		return nil, err
	}
	args := slices.Clone(r.opts.Program)
	for _, c := range slices.Concat(settings, r.opts.Config) {
		args = append(args, "-c", c)
	}
	p, err := r.opts.Start(program.Launch{
		Session: r.turn.Session, Directory: r.turn.Directory, Home: home.Path, Args: append(args, "app-server"), Env: environ(home), Acts: acts,
		Why: func(is harness.Isolation) string { r.inner = r.opts.inner(is); return about(r.inner) },
	}, ear)
	if err != nil {
		return nil, err
	}
	p.Kept = &kept{directory: r.turn.Directory, home: home.State, config: r.host.Config()}
	return p, nil
}

// config is the program's own file. That a project is untrusted can only be
// said there.
func config(directory string) []byte {
	return fmt.Appendf(nil, "[projects.%s]\ntrust_level = \"untrusted\"\n", strconv.Quote(directory))
}

// settings keep the program from calling anybody but its model.
var settings = []string{"features.plugins=false", "features.apps=false", "check_for_update_on_startup=false", "analytics.enabled=false"}

// environ is the whole environment of a process.
func environ(h *program.Home) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + h.Path, "CODEX_HOME=" + h.Path,
		"TMPDIR=" + h.Temp(), // one above the home would stop it from making its helpers
	}
}

// off is the program's word for no sandbox of its own.
const off = "danger-full-access"

// inner is the program's own sandbox inside of ours.
func (o *Options) inner(is harness.Isolation) string {
	if o.Inner == "" || slices.Contains(is.Enforces, harness.GuardSyscalls) { // it needs namespaces of its own
		return off
	}
	return o.Inner
}

// about says what holds of the program's own sandbox.
func about(inner string) string {
	if inner == off {
		return "codex's own sandbox is off: this one is around it"
	}
	return "codex's own sandbox is " + inner
}

// effort is the program's word for an effort.
func effort(e harness.Effort) string {
	if e == harness.EffortMax {
		return "xhigh"
	}
	return string(e)
}
