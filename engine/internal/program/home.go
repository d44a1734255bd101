package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"harness"
)

// Home is a session's own directory for a program. What is in it may be the
// program's doing, and that of whatever it ran, so each home is only touched
// through its own root: no link leads from one to another.
type Home struct {
	Path  string // of the directory, on the host and in the sandbox
	State string // the directory that has the homes of all sessions

	homes *os.Root // State
	own   *os.Root // Path
}

// OpenHome makes a session's directory: below state, or .harness/name in the
// workspace.
func OpenHome(state, workspace, name string, id harness.SessionID) (*Home, error) {
	if err := harness.CheckID("session id", string(id)); err != nil {
		return nil, err
	}
	h, err := openHomes(state, workspace, name)
	if err != nil {
		return nil, fmt.Errorf("make a home: %w", err)
	}
	h.Path = filepath.Join(h.State, string(id))
	if err := h.homes.Mkdir(string(id), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(fmt.Errorf("make a home: %w", err), h.homes.Close())
	}
	if h.own, err = h.open(id); err == nil {
		err = h.own.MkdirAll("tmp", 0o700)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a home: %w", err), h.Close())
	}
	return h, nil
}

// openHomes opens the directory of all homes for sessions of a workspace.
func openHomes(state, workspace, name string) (*Home, error) {
	if state != "" {
		if err := os.MkdirAll(state, 0o700); err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(state)
		return &Home{State: state, homes: root}, err
	}
	workspace, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	name = ".harness/" + name
	if err := top.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	if err := top.WriteFile(name+"/.gitignore", []byte("*\n"), 0o600); err != nil {
		return nil, err
	}
	root, err := top.OpenRoot(name)
	return &Home{State: filepath.Join(workspace, name), homes: root}, err
}

// open is a session's home, if it is there and no link.
func (h *Home) open(id harness.SessionID) (*os.Root, error) {
	if err := harness.CheckID("session id", string(id)); err != nil {
		return nil, err
	}
	info, err := h.homes.Lstat(string(id))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(h.State, string(id)), Err: syscall.ENOTDIR}
	}
	return h.homes.OpenRoot(string(id))
}

// Temp is a directory for what is thrown away, in the home: not above it.
func (h *Home) Temp() string { return filepath.Join(h.Path, "tmp") }

// Write replaces a file of the home, or whatever has its name.
func (h *Home) Write(name string, data []byte) error {
	if err := h.Remove(name); err != nil {
		return err
	}
	return h.own.WriteFile(name, data, 0o600)
}

// Remove removes what is there, if anything is.
func (h *Home) Remove(name string) error { return h.own.RemoveAll(name) }

// Adopt copies the files of a directory in another session's home that are
// wanted, all if that is nil, but for what is here already. There may be none.
func (h *Home) Adopt(from harness.SessionID, name string, wanted func(path string) bool) error {
	theirs, err := h.open(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer theirs.Close()
	return fs.WalkDir(theirs.FS(), name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case p == name && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil, !d.Type().IsRegular(), wanted != nil && !wanted(p):
			return err
		}
		return h.copy(theirs, p)
	})
}

// copy copies a file whole, or not at all.
func (h *Home) copy(theirs *os.Root, name string) error {
	if _, err := h.own.Lstat(name); err == nil {
		return nil
	}
	in, err := theirs.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := h.own.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := name + ".part"
	out, err := h.own.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return h.own.Rename(part, name)
}

// Close lets go of the directory, which stays.
func (h *Home) Close() error {
	err := h.homes.Close()
	if h.own != nil {
		err = errors.Join(err, h.own.Close())
	}
	return err
}
