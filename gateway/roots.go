package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"harness"
)

// Roots are the directories in which callers may have sessions work.
type Roots struct{ dirs []string } // as they are after every symbolic link

// NewRoots are these directories, which must exist.
func NewRoots(dirs ...string) (*Roots, error) {
	r := new(Roots)
	for _, dir := range dirs {
		real, err := resolve(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", dir, err, harness.ErrInvalid)
		}
		r.dirs = append(r.dirs, real)
	}
	return r, nil
}

// Directory is where path leads, if that is a directory in one of the roots;
// else ErrInvalid, which does not say whether there is one. With anywhere, every
// directory will do.
func (r *Roots) Directory(path string, anywhere bool) (string, error) {
	real, err := resolve(path)
	if err == nil && anywhere {
		return path, nil
	}
	for _, root := range r.dirs {
		if err == nil && (real == root || strings.HasPrefix(real, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))) {
			return real, nil
		}
	}
	return "", fmt.Errorf("directory: sessions do not work there: %w", harness.ErrInvalid)
}

// resolve is an existing directory without symbolic links in its path.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("not an absolute path: %w", harness.ErrInvalid)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("not a directory: %w", harness.ErrInvalid)
	}
	return real, err
}
