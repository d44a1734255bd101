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
		Session: r.turn.Session, Directory: r.turn.Directory, Home: home, Args: append(args, "app-server"), Env: environ(home), Acts: acts,
		Why: program.Around("codex"),
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
		program.Path, "LANG=C.UTF-8", "HOME=" + h.Path, "CODEX_HOME=" + h.Path,
		"TMPDIR=" + h.Temp(), // one above the home would stop it from making its helpers
	}
}

// off is the program's word for no sandbox of its own. Killed commands of that
// would leave empty directories wherever they may write.
const off = "danger-full-access"

// effort is the program's word for an effort.
func effort(e harness.Effort) string {
	if e == harness.EffortMax {
		return "xhigh"
	}
	return string(e)
}
