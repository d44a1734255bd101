// Package pins finds the files of git repositories that git executes or obeys,
// so that a sandbox can mount them read-only.
//
// Pinning a file is not enough: whoever can rename one of the directories above
// it puts another in its place. Therefore every directory between the workspace
// and a pinned file becomes a mount point, which cannot be renamed or replaced.
package pins

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mount is a path that becomes a mount point.
type Mount struct {
	Path     string
	From     string // what is mounted there; empty: the path itself
	ReadOnly bool
}

// Source is what is mounted.
func (m Mount) Source() string { return cmp.Or(m.From, m.Path) }

// Pins are the mounts of one workspace, outermost first.
type Pins struct {
	Mounts []Mount
	// Broken says why something could not be pinned; empty if all was.
	Broken string

	roots []string // the workspace, and repositories outside that are mounted
	skip  []string
	dirs  int
	git   []string // directories of repositories that have no file commondir
}

// Bounds of the search, which is done once per workspace: 20,000 directories
// take about 0.1 s, as many names as snapshots keep about 0.2 s.
const (
	maxDirectories = 20_000
	maxNames       = 200_000
)

// batch is how many names of a directory are read at a time.
const batch = 1024

// Find searches the workspace in dir, which must be free of links itself, but
// for what is below the relative names in skip.
func Find(dir string, skip ...string) (*Pins, error) {
	return find(dir, maxDirectories, maxNames, skip...)
}

func find(dir string, directories, names int, skip ...string) (*Pins, error) {
	p := &Pins{roots: []string{dir}}
	for _, name := range skip {
		p.skip = append(p.skip, filepath.Join(dir, name))
	}
	for pending := []string{dir}; len(pending) > 0; {
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if p.dirs++; p.dirs > directories {
			p.broken("the workspace has more than %d directories", directories)
			return p, nil
		}
		below, err := p.directory(at, &names)
		if err != nil {
			return p, err
		}
		if names < 0 {
			p.broken("the workspace has too many files to look through")
			return p, nil
		}
		pending = append(pending, below...)
	}
	return p, nil
}

// directory pins the repository in a directory and returns the directories
// below. It takes what it reads from names and ends when none is left.
func (p *Pins) directory(at string, names *int) (below []string, err error) {
	f, err := os.Open(at)
	if err != nil {
		return nil, nil // what cannot be read here cannot be used there
	}
	defer f.Close()
	for {
		entries, end := f.ReadDir(batch)
		for _, d := range entries {
			path := filepath.Join(at, d.Name())
			switch {
			case slices.Contains(p.skip, path):
			case d.Name() == ".git":
				if err := p.repository(path, d); err != nil {
					return nil, err
				}
			case d.IsDir():
				below = append(below, path)
			}
		}
		if *names -= len(entries); end != nil || *names < 0 {
			return below, nil
		}
	}
}

func (p *Pins) broken(format string, args ...any) {
	if p.Broken == "" {
		p.Broken = fmt.Sprintf(format, args...)
	}
}

// repository pins what a .git is, or leads to.
func (p *Pins) repository(path string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		return p.gitDir(path)
	case d.Type()&fs.ModeSymlink != 0:
		p.broken("%s is a link", path)
		return nil
	case !d.Type().IsRegular():
		return nil
	}
	p.Above(path)
	p.add(path, true)
	if common := worktree(path); common != "" && !p.inside(common) {
		p.add(common, false)
		p.roots = append(p.roots, common)
		return p.gitDir(common)
	}
	return nil
}

// worktree returns the common directory of the repository to which the linked
// worktree with this .git file belongs. What the file says is believed only if
// the repository says the same: anybody in the workspace can write the file.
func worktree(file string) string {
	dir, ok := line(file, "gitdir: ")
	if !ok || !filepath.IsAbs(dir) || filepath.Base(filepath.Dir(dir)) != "worktrees" {
		return ""
	}
	back, ok := line(filepath.Join(dir, "gitdir"), "")
	if !ok || back != file {
		return ""
	}
	common := filepath.Dir(filepath.Dir(dir))
	real, err := filepath.EvalSymlinks(common)
	if err != nil || real != common {
		return ""
	}
	return common
}

// maxLine bounds the files that hold one path.
const maxLine = 8 << 10

// line returns the only line of a file without its prefix.
func line(file, prefix string) (string, bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLine {
		return "", false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), prefix)
}

// gitDir pins the hooks and the configuration of a repository, of its
// submodules and of its worktrees. What is missing is made, empty: a file that
// is not there cannot be held.
func (p *Pins) gitDir(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return nil // not a repository
	}
	p.Above(filepath.Join(dir, "hooks"))
	hooks, config := filepath.Join(dir, "hooks"), filepath.Join(dir, "config")
	if err := os.Mkdir(hooks, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		p.broken("%v", err)
	}
	if f, err := os.OpenFile(config, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
		f.Close()
	}
	p.hold(hooks)
	p.hold(config)
	p.hold(filepath.Join(dir, "config.worktree"))
	p.hold(filepath.Join(dir, "commondir"))
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); errors.Is(err, fs.ErrNotExist) {
		p.git = append(p.git, dir)
	}
	trees, _ := filepath.Glob(filepath.Join(dir, "worktrees", "*", "config.worktree"))
	for _, tree := range trees {
		p.Above(tree)
		p.hold(tree)
	}
	return filepath.WalkDir(filepath.Join(dir, "modules"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); err == nil {
			if err := p.gitDir(path); err != nil {
				return err
			}
			return fs.SkipDir // its own submodules are below its modules
		}
		return nil
	})
}

// hold makes an existing path read-only.
func (p *Pins) hold(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		p.broken("%s is a link", path)
	default:
		p.add(path, true)
	}
}

// Above makes mount points of the directories between a root and path.
func (p *Pins) Above(path string) {
	var dirs []string
	for d := filepath.Dir(path); p.inside(d) && !slices.Contains(p.roots, d); d = filepath.Dir(d) {
		dirs = append(dirs, d)
	}
	for _, d := range slices.Backward(dirs) {
		p.add(d, false)
	}
}

func (p *Pins) add(path string, readOnly bool) {
	if !slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Path == path }) {
		p.Mounts = append(p.Mounts, Mount{Path: path, ReadOnly: readOnly})
	}
}

func (p *Pins) inside(path string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Current returns the mounts that still exist. It fails if one of them has
// become, or lies below, a link: then the mount would lead elsewhere.
func (p *Pins) Current() ([]Mount, error) {
	now := make([]Mount, 0, len(p.Mounts))
	for _, m := range p.Mounts {
		real, err := filepath.EvalSymlinks(m.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case real != m.Path:
			return nil, fmt.Errorf("%w: %s was replaced by a link", fs.ErrPermission, m.Path)
		default:
			now = append(now, m)
		}
	}
	return now, nil
}

// Clean removes what redirects git from a pinned configuration to another: a
// file commondir in a repository that had none.
func (p *Pins) Clean() error {
	var errs []error
	for _, dir := range p.git {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, "commondir")))
	}
	return errors.Join(errs...)
}
