package workspace

import (
	"bytes"
	"context"
	"fmt"

	"harness"
	"harness/workspace/object"
)

// Bounds of a patch: it is for people to read, and the files are there.
const (
	maxPatch     = 1 << 20   // bytes; what is beyond is named only
	maxPatchFile = 512 << 10 // bytes of a file that is compared line by line
	patchContext = 3         // lines around a change
)

// Diff is what has changed in the directory since a mark of the session, as a
// unified diff, by path. Files that are not text, or too large, are only named.
// What is not kept is not in it.
func (f *Files) Diff(ctx context.Context, session harness.SessionID, mark string) ([]byte, error) {
	defer f.use()()
	text, err := f.tree.patch(ctx, session, mark)
	return text, known(err)
}

// Diff is [Files.Diff] of a directory. One that nothing is kept of is
// harness.ErrUnsupported.
func (t *Trees) Diff(ctx context.Context, session harness.SessionID, dir, mark string) ([]byte, error) {
	f, err := t.of(dir)
	if err != nil {
		return nil, err
	}
	return f.Diff(ctx, session, mark)
}

func (t *Tree) patch(ctx context.Context, session harness.SessionID, mark string) ([]byte, error) {
	leave, err := t.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	_, root, err := t.lookup(session, mark)
	if err != nil {
		return nil, err
	}
	s, err := object.Open(ctx, t.objects(), t.storeOptions())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	_, d, err := t.look(ctx, s, root)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var bad error
	err = diff(s, "", root, d.id, func(path string, a, b *Entry) {
		if bad == nil {
			bad = patchFile(&out, s, path, a, b)
		}
	})
	if err == nil {
		err = bad
	}
	return out.Bytes(), err
}

// patchFile adds what became of one path.
func patchFile(out *bytes.Buffer, s *object.Store, path string, a, b *Entry) error {
	if a != nil && a.Kind == Dir {
		a = nil
	}
	if b != nil && b.Kind == Dir {
		b = nil
	}
	if a == nil && b == nil {
		return nil
	}
	from, to := "a/"+path, "b/"+path
	if a == nil {
		from = "/dev/null"
	}
	if b == nil {
		to = "/dev/null"
	}
	fmt.Fprintf(out, "diff --git a/%s b/%s\n", path, path)
	olds, oldText, err := patchText(s, a)
	if err != nil {
		return err
	}
	news, newText, err := patchText(s, b)
	if err != nil {
		return err
	}
	if !oldText || !newText || out.Len()+len(olds)+len(news) > maxPatch {
		fmt.Fprintf(out, "Binary files %s and %s differ\n", from, to)
		return nil
	}
	hunks := unified(olds, news)
	if len(hunks) == 0 { // only the mode is another
		return nil
	}
	fmt.Fprintf(out, "--- %s\n+++ %s\n", from, to)
	out.Write(hunks)
	return nil
}

// patchText is an entry's content, if it can be compared line by line.
func patchText(s *object.Store, e *Entry) ([]byte, bool, error) {
	switch {
	case e == nil:
		return nil, true, nil
	case e.Kind == Link:
		return []byte(e.Target), true, nil
	case e.Kind != File || e.Size > maxPatchFile:
		return nil, false, nil
	}
	b, err := s.Get(e.ID)
	return b, err == nil && !isBinary(b), err
}
