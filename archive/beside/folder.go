package beside

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"harness"
	"harness/internal/whole"
)

// Folder is the data directory of a server as a set of places. They have no
// versions: whoever delivers to them is alone.
type Folder struct{ root *os.Root }

var _ Keep = (*Folder)(nil)

// Open uses a data directory, which it makes if need be.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return &Folder{root}, nil
}

// Close releases the directory.
func (f *Folder) Close() error { return f.root.Close() }

// The directories of places with files.
const (
	artifactsIn = "artifacts"
	treesIn     = "snapshots"
	packsIn     = "objects/packs"
)

// path is where a file of a place belongs; false: nowhere.
func (f *Folder) path(place, name string) (string, bool) {
	if p, ok := paperAt(place); ok {
		return p.file, name == textAt
	}
	if session, ok := strings.CutPrefix(place, artifactsAt); ok {
		of, at, err := harness.ParseArtifactID(harness.ArtifactPrefix + session + "." + name)
		return path.Join(artifactsIn, session, name), err == nil && string(of) == session && at == name
	}
	tree, ok := strings.CutPrefix(place, treesAt)
	if !ok || !plain(tree) {
		return "", false
	}
	dir := path.Join(treesIn, tree)
	if pack, ok := strings.CutPrefix(name, packsAt); ok {
		return path.Join(dir, packsIn, pack), plain(pack) && strings.HasSuffix(pack, ".pack")
	}
	if mark, ok := strings.CutPrefix(name, marksAt); ok {
		session, id, _ := strings.Cut(mark, "/")
		_, err := harness.ParseSessionID(session)
		return path.Join(dir, "marks", session, id), err == nil && plain(id)
	}
	return path.Join(dir, journalAt), name == journalAt
}

// plain reports whether a name is one that a file of a place could have.
func plain(name string) bool {
	return name != "" && !strings.ContainsAny(name, "/\\\x00") && !strings.HasPrefix(name, ".")
}

// Places implements [Keep].
func (f *Folder) Places(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var names []string
		for _, p := range papers {
			if _, err := f.root.Stat(p.file); err == nil {
				names = append(names, p.place)
			}
		}
		for dir, prefix := range map[string]string{artifactsIn: artifactsAt, treesIn: treesAt} {
			below, err := f.list(dir, true)
			if err != nil {
				yield("", err)
				return
			}
			for _, name := range below {
				names = append(names, prefix+name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

// list is the names in a directory: of directories, or of files.
func (f *Folder) list(dir string, dirs bool) (names []string, err error) {
	all, err := fs.ReadDir(f.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range all {
		if e.IsDir() == dirs && (dirs || e.Type().IsRegular()) && plain(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Place implements [Keep]. It reads all of it.
func (f *Folder) Place(ctx context.Context, name string, _ uint64) (harness.Place, error) {
	var p harness.Place
	files, err := f.files(name)
	if err != nil {
		return p, fmt.Errorf("place %s: %w: %w", name, err, harness.ErrStorage)
	}
	for _, filed := range files {
		at, ok := f.path(name, filed.Name)
		if !ok {
			continue // a file of nobody's
		}
		if err := ctx.Err(); err != nil {
			return p, err
		}
		filed.Size, filed.SHA256, err = f.sum(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return p, fmt.Errorf("place %s: %w: %w", name, err, harness.ErrStorage)
		}
		p.Files = append(p.Files, filed)
	}
	slices.SortFunc(p.Files, func(a, b harness.Filed) int { return strings.Compare(a.Name, b.Name) })
	return p, nil
}

func (f *Folder) sum(at string) (size int64, sum [sha256.Size]byte, err error) {
	file, err := f.root.Open(at)
	if err != nil {
		return 0, sum, err
	}
	defer file.Close()
	h := sha256.New()
	size, err = io.Copy(h, file)
	return size, [sha256.Size]byte(h.Sum(nil)), err
}

// files are the names that a place could have, and whose they are.
func (f *Folder) files(place string) (all []harness.Filed, err error) {
	if session, ok := strings.CutPrefix(place, artifactsAt); ok {
		names, err := f.list(path.Join(artifactsIn, session), false)
		for _, name := range names {
			all = append(all, harness.Filed{Name: name, Session: harness.SessionID(session)})
		}
		return all, err
	}
	tree, ok := strings.CutPrefix(place, treesAt)
	if !ok {
		return []harness.Filed{{Name: textAt}}, nil
	}
	dir := path.Join(treesIn, tree)
	packs, err := f.list(path.Join(dir, packsIn), false)
	if err != nil {
		return nil, err
	}
	for _, name := range packs {
		all = append(all, harness.Filed{Name: packsAt + name})
	}
	sessions, err := f.list(path.Join(dir, "marks"), true)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		marks, err := f.list(path.Join(dir, "marks", session), false)
		if err != nil {
			return nil, err
		}
		for _, id := range marks {
			all = append(all, harness.Filed{Name: marksAt + session + "/" + id, Session: harness.SessionID(session)})
		}
	}
	return append(all, harness.Filed{Name: journalAt}), nil
}

// Fetch implements [Keep].
func (f *Folder) Fetch(_ context.Context, place, name string) (io.ReadSeekCloser, error) {
	at, ok := f.path(place, name)
	if !ok {
		return nil, fmt.Errorf("fetch %s of %s: %w", name, place, harness.ErrNotFound)
	}
	file, err := f.root.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("fetch %s of %s: %w", name, place, harness.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s of %s: %w: %w", name, place, err, harness.ErrStorage)
	}
	return file, nil
}

// Deliver implements [Keep]: each file at one instant, one after the other. If one
// has no place in a data directory it is ErrUnsupported, and none is written.
func (f *Folder) Deliver(ctx context.Context, d harness.Delivery) (uint64, error) {
	for _, p := range d.Add {
		if !takes(f, d.Place, p.Name) {
			return 0, fmt.Errorf("%s of %s has no place in a data directory: %w", p.Name, d.Place, harness.ErrUnsupported)
		}
	}
	for _, p := range d.Add {
		at, _ := f.path(d.Place, p.Name)
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		err := f.root.MkdirAll(path.Dir(at), 0o700)
		if err == nil {
			err = whole.Write(f.root, at, p.Content)
		}
		if err != nil {
			return 0, fmt.Errorf("deliver to %s: %w: %w", d.Place, err, harness.ErrStorage)
		}
	}
	return 0, nil
}
