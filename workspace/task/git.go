package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// repository returns the top of the repository that dir lies in. It looks for a
// .git and runs nothing.
func repository(dir string) (string, bool) {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// worktree adds a worktree at task.Root, on a new branch at HEAD.
func (t *Tasks) worktree(ctx context.Context, task *Task, repo string) error {
	g, err := t.git(ctx, repo)
	if err != nil {
		return err
	}
	if task.Base, err = g.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return fmt.Errorf("nothing is committed: %w", err)
	}
	task.Branch = "harness/" + task.Name
	if _, err := g.run(ctx, "worktree", "add", "--quiet", "-b", task.Branch, task.Root, task.Base); err != nil {
		// Whatever it has made so far goes; a branch only if it is ours.
		g.run(ctx, "worktree", "remove", "--force", task.Root)
		g.run(ctx, "update-ref", "-d", "refs/heads/"+task.Branch, task.Base)
		return err
	}
	rel, err := filepath.Rel(repo, task.Source)
	if err != nil {
		return err
	}
	task.Kind, task.Directory = Worktree, filepath.Join(task.Root, rel)
	if err := os.MkdirAll(task.Directory, 0o755); err != nil {
		return err
	}
	if g.filters {
		task.Notes = append(task.Notes, "filters of the repository were not run: files they make are as committed")
	}
	return nil
}

// forget removes a worktree whose directory is gone from the repository's list.
func (t *Tasks) forget(ctx context.Context, task Task) error {
	repo, ok := repository(task.Source)
	if !ok {
		return nil // the repository is gone, and its list with it
	}
	g, err := t.git(ctx, repo)
	if err != nil {
		return err
	}
	list, err := g.run(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	if strings.Contains("\n"+list+"\n", "\nworktree "+task.Root+"\n") {
		// With the directory gone this reads no file of the agent's.
		if _, err := g.run(ctx, "worktree", "remove", "--force", "--force", task.Root); err != nil {
			return err
		}
	}
	// The branch goes only if it is where it began.
	if at, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+task.Branch); err == nil && at == task.Base {
		_, err = g.run(ctx, "update-ref", "-d", "refs/heads/"+task.Branch, task.Base)
		return err
	}
	return nil
}

// git runs one program in one repository, with everything switched off that
// would run another.
type git struct {
	path    string
	repo    string
	flags   []string
	filters bool // the repository defines filters
}

// safe are settings under which git runs no program but itself.
var safe = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=true", "core.sshCommand=false", "core.askPass=true",
	"core.alternateRefsCommand=true", "credential.helper=", "protocol.allow=never", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
	"commit.gpgSign=false", "advice.detachedHead=false", "fetch.recurseSubmodules=false", "diff.external=", "core.attributesFile=/dev/null",
}

// gitTime bounds one call: the longest checks a working tree out.
const gitTime = 2 * time.Minute

func (t *Tasks) git(ctx context.Context, repo string) (*git, error) {
	g := &git{path: t.opts.Git, repo: repo}
	if g.path == "-" {
		return nil, errors.New("git is switched off")
	}
	if g.path == "" {
		var err error
		if g.path, err = exec.LookPath("git"); err != nil {
			return nil, err
		}
	}
	for _, s := range safe {
		g.flags = append(g.flags, "-c", s)
	}
	names, err := g.run(ctx, "config", "--null", "--name-only", "--list") // reads, and runs nothing
	if err != nil {
		return nil, err
	}
	for key := range strings.SplitSeq(names, "\x00") {
		if strings.HasPrefix(key, "includeif.") { // another directory could have other filters
			return nil, errors.New("the repository's configuration differs by directory")
		}
		rest, ok := strings.CutPrefix(key, "filter.")
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot < 0 {
			continue
		}
		if strings.ContainsAny(rest[:dot], "=\n") {
			return nil, fmt.Errorf("filter %q cannot be switched off", rest[:dot])
		}
		g.filters = true
		for _, what := range []string{"clean=", "smudge=", "process=", "required=false"} {
			g.flags = append(g.flags, "-c", "filter."+rest[:dot]+"."+what)
		}
	}
	return g, nil
}

func (g *git) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.path, append(g.flags[:len(g.flags):len(g.flags)], args...)...)
	cmd.Dir = g.repo
	cmd.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ATTR_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(g.repo), "LC_ALL=C", "HOME=/nonexistent"}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
