package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"harness"
	"harness/workspace/object"
)

// Options change what a Tree does; the zero value works.
type Options struct {
	Bounds
	// Home is the user's home directory. It and what it lies in are refused.
	Home string
	// Depot has the snapshots, for every process that shares it: what is in the
	// data directory is a copy. Nil: the data directory has them.
	Depot harness.Depot
}

// Tree is a directory that snapshots are taken of. It holds nothing open and
// nothing in memory between calls, and any number of them may stand for one
// directory, in one process or in many.
type Tree struct {
	root   string // the directory, without links
	data   string // what is kept about it
	bounds Bounds
	share  *share // nil: what is kept is kept here alone
}

// Open returns the tree of dir, whose snapshots are kept below data. It refuses
// with ErrRefused the root of the file system, opts.Home, and what that lies in.
// It writes nothing.
func Open(data, dir string, opts *Options) (*Tree, error) {
	if opts == nil {
		opts = &Options{}
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory: %w", root, ErrRefused)
	}
	if data, err = filepath.Abs(data); err != nil {
		return nil, err
	}
	homes := []string{string(filepath.Separator)}
	if opts.Home != "" {
		homes = append(homes, filepath.Clean(opts.Home))
		if real, err := filepath.EvalSymlinks(opts.Home); err == nil {
			homes = append(homes, real)
		}
	}
	for _, h := range homes {
		if h == root || strings.HasPrefix(h, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return nil, fmt.Errorf("%s: %w: too much lies in it", root, ErrRefused)
		}
	}
	return newTree(data, root, opts), nil
}

// newTree is the tree of a directory without links.
func newTree(data, root string, opts *Options) *Tree {
	name := treeName(root)
	t := &Tree{root: root, data: filepath.Join(data, name), bounds: opts.Bounds.filled()}
	if opts.Depot != nil {
		t.share = &share{opts.Depot, treePlace(name)}
	}
	return t
}

// treeName is what a tree is called among others, by its directory.
func treeName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:10])
}

// treePlace is where a depot has what is kept of a tree.
func treePlace(name string) string { return "trees/" + name }

// prepare makes the place for what is kept about the tree, with a note about
// which tree that is.
func (t *Tree) prepare() error {
	if err := os.MkdirAll(filepath.Join(t.data, "marks"), 0o700); err != nil {
		return err
	}
	path := filepath.Join(t.data, "tree")
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return replace(path, []byte(t.root+"\n"), false)
}

// Directory is the tree's directory, absolute and without links.
func (t *Tree) Directory() string { return t.root }

func (t *Tree) objects() string { return filepath.Join(t.data, "objects") }
func (t *Tree) index() string   { return filepath.Join(t.data, "index") }

func (t *Tree) storeOptions() *object.Options {
	return &object.Options{Workers: t.bounds.Workers, MaxDisk: t.bounds.Disk, MinFree: t.bounds.Free}
}
