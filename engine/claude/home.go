package claude

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

// homes is the directory that has a directory of each session. What is in those
// may be the program's doing, and that of whatever it ran: each is only touched
// through its own root, so no link leads from one to another.
type homes struct {
	path string
	root *os.Root
}

// homes opens the directory of all homes for sessions of a workspace.
func (o *Options) homes(workspace string) (*homes, error) {
	if o.State != "" {
		if err := os.MkdirAll(o.State, 0o700); err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(o.State)
		return &homes{o.State, root}, err
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
	const name = ".harness/claude"
	if err := top.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	if err := top.WriteFile(name+"/.gitignore", []byte("*\n"), 0o600); err != nil {
		return nil, err
	}
	root, err := top.OpenRoot(name)
	return &homes{filepath.Join(workspace, name), root}, err
}

// open makes a session's directory, if there is none.
func (h *homes) open(id harness.SessionID) (*os.Root, error) {
	if err := harness.CheckID("session id", string(id)); err != nil {
		return nil, err
	}
	if err := h.root.Mkdir(string(id), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := h.root.Lstat(string(id))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(h.path, string(id)), Err: syscall.ENOTDIR}
	}
	return h.root.OpenRoot(string(id))
}

// prepare makes the directory of a session, with the conversation in it that it
// was branched off from.
func (o *Options) prepare(l launch) (string, error) {
	all, err := o.homes(l.directory)
	if err != nil {
		return "", fmt.Errorf("make a home: %w", err)
	}
	defer all.root.Close()
	home, err := all.open(l.session)
	if err != nil {
		return "", fmt.Errorf("make a home: %w", err)
	}
	defer home.Close()
	if l.from != "" && l.from != l.session {
		if err := all.hand(l.from, home, l.resume); err != nil && !errors.Is(err, fs.ErrNotExist) { // the program will say that it is lost
			return "", fmt.Errorf("take over a conversation: %w", err)
		}
	}
	return filepath.Join(all.path, string(l.session)), nil
}

// hand copies a conversation from a session's home to another, unless it is
// there.
func (h *homes) hand(from harness.SessionID, to *os.Root, conversation string) error {
	if err := harness.CheckID("conversation", conversation); err != nil {
		return err
	}
	if _, err := h.root.Lstat(string(from)); err != nil {
		return err
	}
	home, err := h.open(from)
	if err != nil {
		return err
	}
	defer home.Close()
	found, err := fs.Glob(home.FS(), "config/projects/*/"+conversation+".jsonl")
	if err != nil || len(found) == 0 {
		return errors.Join(err, fs.ErrNotExist)
	}
	name := found[0]
	in, err := home.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrNotExist)
	}
	if _, err := to.Lstat(name); err == nil {
		return nil
	}
	if err := to.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := name + ".part"
	out, err := to.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return to.Rename(part, name)
}
