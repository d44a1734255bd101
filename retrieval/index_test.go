package retrieval_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"harness/retrieval"
)

func refresh(tb testing.TB, x *retrieval.Index) retrieval.Report {
	tb.Helper()
	r, err := x.Refresh(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func search(tb testing.TB, x *retrieval.Index, query string, k int) []retrieval.Hit {
	tb.Helper()
	hits, err := x.Search(tb.Context(), query, k)
	if err != nil {
		tb.Fatal(err)
	}
	return hits
}

func places(hits []retrieval.Hit) (all []string) {
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s:%d-%d", h.Path, h.FromLine, h.ToLine))
	}
	return all
}

func numbered(from, to int, word string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d %s\n", i, word)
	}
	return b.String()
}

func TestAPassageIsFoundWithItsLines(t *testing.T) {
	t.Parallel()
	text := numbered(1, 100, "filler") + "func parseWidget() {}\n" + numbered(102, 300, "filler")
	x := retrieval.Open(fstest.MapFS{"a/big.go": {Data: []byte(text)}, "b.go": {Data: []byte(numbered(1, 30, "other"))}}, nil)
	refresh(t, x)
	hits := search(t, x, "where is parse_widget?", 1)
	if len(hits) != 1 || hits[0].Path != "a/big.go" || hits[0].FromLine > 101 || hits[0].ToLine < 101 || !strings.Contains(hits[0].Text, "parseWidget") {
		t.Fatalf("hits %+v", hits)
	}
	first := strings.SplitN(hits[0].Text, "\n", 2)[0]
	if want := fmt.Sprintf("line %d filler", hits[0].FromLine); first != want {
		t.Errorf("the text begins with %q, want %q", first, want)
	}
	if n := hits[0].ToLine - hits[0].FromLine + 1; n < 30 || n > 60 || strings.Count(hits[0].Text, "\n") != n {
		t.Errorf("%d lines, %d in the text", n, strings.Count(hits[0].Text, "\n"))
	}
}

func TestThePathCounts(t *testing.T) {
	t.Parallel()
	x := retrieval.Open(fstest.MapFS{"store/sqlite/open.go": {Data: []byte("opens it\n")}, "notes.txt": {Data: []byte("sqlite opens things\n")}}, nil)
	refresh(t, x)
	if got := places(search(t, x, "sqlite open", 2)); !slices.Equal(got, []string{"store/sqlite/open.go:1-1", "notes.txt:1-1"}) {
		t.Errorf("got %v", got)
	}
}

func TestIgnoredAndBinaryAndLargeFilesAreLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	x := retrieval.Open(fstest.MapFS{
		".gitignore":             {Data: []byte("*.log\n/build/\n")},
		".git/config":            {Data: []byte("needle")},
		".git/info/exclude":      {Data: []byte("private\n")},
		"a.log":                  {Data: []byte("needle")},
		"build/x":                {Data: []byte("needle")},
		"private":                {Data: []byte("needle")},
		"sub/.gitignore":         {Data: []byte("!b.log\nc\n")},
		"sub/b.log":              {Data: []byte("needle")},
		"sub/c":                  {Data: []byte("needle")},
		"picture":                {Data: []byte("needle\x00")},
		"large.csv":              {Data: []byte(strings.Repeat("needle ", 1000))},
		"empty":                  {Data: nil},
		"sub/deep/er/needle.txt": {Data: []byte("needle")},
	}, &retrieval.Options{MaxFileBytes: 4096})
	r := refresh(t, x)
	if got := places(search(t, x, "needle", 10)); !slices.Equal(got, []string{"sub/deep/er/needle.txt:1-1", "sub/b.log:1-1"}) {
		t.Errorf("got %v", got)
	}
	want := retrieval.Skipped{Ignored: 5, Binary: 1, Large: 1}
	if r.Skipped != want || r.Files != 4 {
		t.Errorf("report %+v", r)
	}
}

func TestBoundsAreKeptAndReported(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for i := range 20 {
		tree[fmt.Sprintf("f%02d", i)] = &fstest.MapFile{Data: []byte("word\n")}
	}
	x := retrieval.Open(tree, &retrieval.Options{MaxFiles: 5})
	if r := refresh(t, x); r.Files != 5 || r.Skipped.Limit != 15 {
		t.Errorf("files: %+v", r)
	}
	x = retrieval.Open(tree, &retrieval.Options{MaxBytes: 30})
	if r := refresh(t, x); r.Files != 6 || r.Skipped.Limit != 14 || r.Bytes != 30 {
		t.Errorf("bytes: %+v", r)
	}
	x = retrieval.Open(tree, &retrieval.Options{MaxTime: time.Nanosecond})
	if r := refresh(t, x); r.Pending != 20 || r.Files != 0 {
		t.Errorf("time: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Refresh(ctx); err == nil {
		t.Error("a refresh without time succeeded")
	}
}

func TestOnlyChangedFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	put := func(name, text string, at time.Time) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		put(fmt.Sprint(i), "apple\n", old)
	}
	x := retrieval.Open(os.DirFS(dir), nil)
	if r := refresh(t, x); r.Read != 50 {
		t.Errorf("first: %+v", r)
	}
	if r := refresh(t, x); r.Read != 0 || r.Files != 50 {
		t.Errorf("again: %+v", r)
	}
	put("7", "grape\n", old.Add(time.Second))
	if err := os.Remove(filepath.Join(dir, "8")); err != nil {
		t.Fatal(err)
	}
	if r := refresh(t, x); r.Read != 1 || r.Removed != 1 || r.Files != 49 {
		t.Errorf("after an edit: %+v", r)
	}
	if got := places(search(t, x, "grape", 5)); !slices.Equal(got, []string{"7:1-1"}) {
		t.Errorf("grape: %v", got)
	}
	// A file as young as that may change again within one tick of its clock.
	now := time.Now()
	put("9", "lemon\n", now)
	refresh(t, x)
	put("9", "melon\n", now)
	refresh(t, x)
	if got := places(search(t, x, "melon", 5)); !slices.Equal(got, []string{"9:1-1"}) {
		t.Errorf("melon: %v", got)
	}
}

func TestTextThatChangedSinceIsNotShown(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"a": {Data: []byte("needle one\n")}, "b": {Data: []byte("needle two\n")}}
	x := retrieval.Open(tree, nil)
	refresh(t, x)
	tree["a"].Data = []byte("another one\n")
	if got := places(search(t, x, "needle", 5)); !slices.Equal(got, []string{"b:1-1"}) {
		t.Errorf("got %v", got)
	}
}

// TestARefreshedIndexIsAFreshOne makes random edits and compares, after each
// refresh, what an index that followed them says with what a new one says.
func TestARefreshedIndexIsAFreshOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("parse user id file openFile http_server retry budget token index search chunk line model tool Über 検索 v2 error")
	text := func() []byte {
		var b strings.Builder
		for range r.IntN(150) {
			for range r.IntN(6) {
				b.WriteString(words[r.IntN(len(words))] + " ")
			}
			b.WriteByte('\n')
		}
		return []byte(b.String())
	}
	tree := fstest.MapFS{}
	at := time.Unix(1_000_000, 0)
	x := retrieval.Open(tree, &retrieval.Options{MaxFiles: 150, MaxBytes: 300_000})
	operations, deadline := 10_000, time.Now().Add(20*time.Second)
	for n := 0; n < operations && time.Now().Before(deadline); {
		for range 1 + r.IntN(60) {
			n++
			at = at.Add(time.Second)
			name := fmt.Sprintf("%s/%s%d", words[r.IntN(4)], words[r.IntN(5)], r.IntN(9))
			switch r.IntN(6) {
			case 0:
				delete(tree, name)
			case 1:
				if f := tree[name]; f != nil { // touched
					tree[name] = &fstest.MapFile{Data: f.Data, ModTime: at}
				}
			case 2:
				tree[words[r.IntN(4)]+"/.gitignore"] = &fstest.MapFile{Data: []byte("*" + fmt.Sprint(r.IntN(9)) + "\n"), ModTime: at}
			case 3:
				tree[name] = &fstest.MapFile{Data: append([]byte("a\x00b"), text()...), ModTime: at}
			default:
				tree[name] = &fstest.MapFile{Data: text(), ModTime: at}
			}
		}
		got := refresh(t, x)
		y := retrieval.Open(tree, &retrieval.Options{MaxFiles: 150, MaxBytes: 300_000})
		want := refresh(t, y)
		got.Read, got.Removed, got.Took, want.Read, want.Removed, want.Took = 0, 0, 0, 0, 0, 0
		if got != want {
			t.Fatalf("after %d operations the report is\n%+v, a new index has\n%+v", n, got, want)
		}
		for range 3 {
			query := words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]
			a, b := search(t, x, query, 20), search(t, y, query, 20)
			if !slices.Equal(a, b) {
				t.Fatalf("after %d operations %q finds\n%v, a new index finds\n%v", n, query, places(a), places(b))
			}
		}
	}
}

func TestASearchDuringARefreshSeesOneState(t *testing.T) {
	t.Parallel()
	// Each state has one word in all files; a search must never see two.
	dir := t.TempDir()
	put := func(word string, at time.Time) {
		for i := range 40 {
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(name, []byte(word+" common\n"), 0o600); err != nil {
				t.Error(err)
			}
			if err := os.Chtimes(name, at, at); err != nil {
				t.Error(err)
			}
		}
	}
	at := time.Unix(1_000_000, 0)
	put("w0", at)
	x := retrieval.Open(os.DirFS(dir), nil)
	refresh(t, x)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				hits, err := x.Search(t.Context(), "common", 100)
				if err != nil {
					t.Error(err)
					return
				}
				for _, h := range hits {
					if h.Score != hits[0].Score { // all files of a state are alike
						t.Errorf("scores %v and %v", h.Score, hits[0].Score)
						return
					}
				}
			}
		})
	}
	for i := range 30 {
		at = at.Add(time.Minute)
		put(fmt.Sprintf("w%d", i+1), at)
		refresh(t, x)
	}
	close(stop)
	wg.Wait()
	if got := search(t, x, "w30", 100); len(got) != 40 {
		t.Errorf("%d hits", len(got))
	}
}
