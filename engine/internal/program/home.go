package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"harness"
)

// Home is a session's own directory for a program. What is in it may be the
// program's doing, so it is only touched through the root that it is in: no link
// leads out of there.
type Home struct {
	Path  string // of the directory, on the host and in the sandbox
	State string // what Path is in

	root  *os.Root
	under string // State in the root
	name  string // Path in the root
}

// OpenHome makes a session's directory: below state, or .harness/name in the
// workspace.
func OpenHome(state, workspace, name string, id harness.SessionID) (*Home, error) {
	if err := harness.CheckID("session id", string(id)); err != nil {
		return nil, err
	}
	h := &Home{State: state, under: ".", name: string(id)}
	at := state
	if state == "" {
		at, h.under = workspace, ".harness/"+name
		h.State, h.name = filepath.Join(workspace, h.under), h.under+"/"+string(id)
	} else if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	var err error
	if h.root, err = os.OpenRoot(at); err != nil {
		return nil, err
	}
	h.Path = filepath.Join(h.State, string(id))
	err = h.root.MkdirAll(h.name+"/tmp", 0o700)
	if err == nil && state == "" {
		err = h.root.WriteFile(h.under+"/.gitignore", []byte("*\n"), 0o600)
	}
	if err != nil {
		h.root.Close()
		return nil, fmt.Errorf("make a home: %w", err)
	}
	return h, nil
}

// Temp is a directory for what is thrown away, in the home: not above it.
func (h *Home) Temp() string { return filepath.Join(h.Path, "tmp") }

// Write replaces a file of the home, or whatever has its name.
func (h *Home) Write(name string, data []byte) error {
	if err := h.Remove(name); err != nil {
		return err
	}
	return h.root.WriteFile(h.name+"/"+name, data, 0o600)
}

// Remove removes what is there, if anything is.
func (h *Home) Remove(name string) error { return h.root.RemoveAll(h.name + "/" + name) }

// Adopt copies a directory of another session's home, but for what is here
// already. There may be none.
func (h *Home) Adopt(from harness.SessionID, name string) error {
	if err := harness.CheckID("session id", string(from)); err != nil {
		return err
	}
	home := path.Join(h.under, string(from))
	if info, err := h.root.Lstat(home); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	theirs, err := h.root.OpenRoot(home) // its program may have left links: none leads to another session's
	if err != nil {
		return err
	}
	defer theirs.Close()
	return fs.WalkDir(theirs.FS(), name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case p == name && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil, !d.Type().IsRegular():
			return err
		}
		return h.copy(theirs, p)
	})
}

func (h *Home) copy(theirs *os.Root, name string) error {
	in, err := theirs.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	to := path.Join(h.name, name)
	if err := h.root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := h.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// Close lets go of the directory, which stays.
func (h *Home) Close() error { return h.root.Close() }
