package tool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/d.ts", "vendor/e.go", "src/gen/f.go", ".git/g.go", ".hidden/h.go"} {
		s.put(name, "x")
		at := time.Unix(int64(1_000_000+i), 0)
		must(t, os.Chtimes(filepath.Join(s.env.Directory, name), at, at))
	}
	s.put(".gitignore", "vendor/\n")
	s.put("src/.ignore", "gen\n")
	must(t, os.Symlink("/etc", filepath.Join(s.env.Directory, "etc")), syscall.Mkfifo(filepath.Join(s.env.Directory, "z.go"), 0o644))
	for _, c := range []struct {
		input in
		want  string
	}{
		{in{"pattern": "*.go"}, ".hidden/h.go src/deep/c.go src/b.go a.go z.go"},
		{in{"pattern": "**/*.go"}, ".hidden/h.go src/deep/c.go src/b.go a.go z.go"},
		{in{"pattern": "src/*.{go,ts}"}, "src/d.ts src/b.go"},
		{in{"pattern": s.env.Directory + "/src/*.go"}, "src/b.go"},
		{in{"pattern": "*.go", "path": "src"}, "src/deep/c.go src/b.go"},
		{in{"pattern": "*", "path": "src/deep"}, "src/deep/c.go"},
		{in{"pattern": "e.go", "path": "vendor"}, "vendor/e.go"},
		{in{"pattern": "f.go", "path": "src"}, "[no file has such a name]"},
		{in{"pattern": "{e,f,g}.go", "include_ignored": true}, "src/gen/f.go vendor/e.go"},
		{in{"pattern": "*.go", "limit": 1}, ".hidden/h.go [4 more files]"},
		{in{"pattern": "etc/*"}, "[no file has such a name]"},
	} {
		if got := strings.Join(strings.Split(strings.TrimSpace(s.do("glob", c.input)), "\n"), " "); got != c.want {
			t.Errorf("%v: got %q, want %q", c.input, got, c.want)
		}
	}
	s.fails("glob", in{"pattern": "a["}, "not a pattern")
	s.fails("glob", in{"pattern": "/etc/*"}, "not a pattern")
	s.fails("glob", in{"pattern": "*", "path": "a.go"}, "not a directory")
	s.fails("glob", in{"pattern": "*", "path": "no"}, "does not exist")
	s.fails("glob", in{"pattern": "*", "path": "etc"}, "outside the workspace")
}

func TestAPatternThatBranchesIsCheap(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put(strings.Repeat("a/", 60)+strings.Repeat("a", 200), "x")
	for _, p := range []string{strings.Repeat("**/a*", 30) + "b", strings.Repeat("{a,a*,*a}", 40) + "b", strings.Repeat("*a", 200) + "b", strings.Repeat("**/", 200) + "b", strings.Repeat("{a,", 300) + strings.Repeat("}", 300)} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		began := time.Now()
		_, _ = s.tryIn(ctx, "glob", in{"pattern": p})
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.40s… took %v", p, took)
		}
		cancel()
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	s.put("b/crlf.txt", "one\r\ntwo\r\n")
	s.put("b/last.md", "no newline: two")
	s.put("bin", "two\x00two")
	s.put(".gitignore", "ignored\n")
	s.put("ignored", "two\n")
	s.put("long", strings.Repeat("x", 10_000)+"needle"+strings.Repeat("y", 10<<20)+"\n")
	must(t, os.Symlink("/etc/passwd", filepath.Join(s.env.Directory, "link")), syscall.Mkfifo(filepath.Join(s.env.Directory, "fifo"), 0o644))
	for _, c := range []struct {
		input in
		want  string
	}{
		{in{"pattern": "two"}, "a.txt:2:two\nb/crlf.txt:2:two\nb/last.md:1:no newline: two\n"},
		{in{"pattern": "^two$"}, "a.txt:2:two\nb/crlf.txt:2:two\n"},
		{in{"pattern": `\Atwo\z`}, "a.txt:2:two\nb/crlf.txt:2:two\n"},
		{in{"pattern": "TWO", "ignore_case": true, "output": "files"}, "a.txt\nb/crlf.txt\nb/last.md\n"},
		{in{"pattern": "e", "output": "count"}, ".gitignore:1\na.txt:4\nb/crlf.txt:1\nb/last.md:1\nlong:1\n"},
		{in{"pattern": "two", "glob": "*.md"}, "b/last.md:1:no newline: two\n"},
		{in{"pattern": "two", "glob": "b/*.txt"}, "b/crlf.txt:2:two\n"},
		{in{"pattern": "two", "path": "b", "glob": "*.md"}, "b/last.md:1:no newline: two\n"},
		{in{"pattern": "two", "path": "a.txt"}, "a.txt:2:two\n"},
		{in{"pattern": "two", "path": "ignored"}, "ignored:1:two\n"},
		{in{"pattern": "two", "include_ignored": true, "output": "files"}, "a.txt\nb/crlf.txt\nb/last.md\nignored\n"},
		{in{"pattern": "three", "before": 1, "after": 2}, "a.txt-2-two\na.txt:3:three\na.txt-4-four\na.txt-5-five\n"},
		{in{"pattern": "^(two|three|six)", "context": 1, "path": "a.txt"}, "a.txt-1-one\na.txt:2:two\na.txt:3:three\na.txt-4-four\na.txt-5-five\na.txt:6:six\na.txt-7-seven\n"},
		{in{"pattern": "^(one|seven)", "context": 1, "path": "a.txt"}, "a.txt:1:one\na.txt-2-two\n--\na.txt-6-six\na.txt:7:seven\n"},
		{in{"pattern": "o[^x]*", "path": "a.txt"}, "a.txt:1:one\na.txt:2:two\na.txt:4:four\n"},
		{in{"pattern": "a.t", "literal": true}, "[nothing was found]\n"},
		{in{"pattern": "o", "path": "a.txt", "limit": 2}, "a.txt:1:one\na.txt:2:two\n[there are more; narrow the search, or raise limit]\n"},
		{in{"pattern": "two", "limit": 2}, "a.txt:2:two\nb/crlf.txt:2:two\n[there are more; narrow the search, or raise limit]\n"},
		{in{"pattern": "root"}, "[nothing was found]\n"},
	} {
		if got := s.do("grep", c.input); got != c.want {
			t.Errorf("%v: got %q, want %q", c.input, got, c.want)
		}
	}
	if got := s.do("grep", in{"pattern": "needle"}); len(got) > 1000 || !strings.Contains(got, "needle") {
		t.Errorf("a long line: %d bytes, %.200q", len(got), got)
	}
	s.fails("grep", in{"pattern": "("}, "RE2")
	s.fails("grep", in{"pattern": "a\nb"}, "line break")
	s.fails("grep", in{"pattern": "a", "path": "fifo"}, "invalid")
	s.fails("grep", in{"pattern": "a", "path": "../x"}, "outside the workspace")
}

// TestGrepIsTheSameEveryTime: a limit shows the first files, whoever was read first.
func TestGrepIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i := range 300 {
		s.put(fmt.Sprintf("d%d/f%03d", i%7, i), strings.Repeat("match here\n", 1+i%5))
	}
	want := s.do("grep", in{"pattern": "match", "limit": 50})
	for range 20 {
		if got := s.do("grep", in{"pattern": "match", "limit": 50}); got != want {
			t.Fatalf("got %q, before %q", got, want)
		}
	}
	if n := strings.Count(want, "match here"); n != 50 {
		t.Errorf("%d matches, want 50", n)
	}
}

func TestSearchesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i := range 200 {
		s.put(fmt.Sprintf("f%d", i), strings.Repeat("ab", 1000))
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for name, input := range map[string]in{"grep": {"pattern": "a+b+c"}, "glob": {"pattern": "*"}} {
		if _, err := s.tryIn(ctx, name, input); !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
