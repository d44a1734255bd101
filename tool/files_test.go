package tool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"harness"
	"harness/tool"
)

func TestRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("a.txt", "one\ntwo\nthree\n")
	if got := s.do("read", in{"path": "a.txt"}); got != "     1\tone\n     2\ttwo\n     3\tthree\n" {
		t.Errorf("got %q", got)
	}
	if got := s.do("read", in{"path": s.env.Directory + "/a.txt", "offset": 2, "limit": 1}); got != "     2\ttwo\n[lines 2 to 2 of 3; go on with offset 3]\n" {
		t.Errorf("got %q", got)
	}
	s.fails("read", in{"path": "a.txt", "offset": 4}, "only 3 lines")
	s.put("crlf", "a\r\nb\r\nc")
	if got := s.do("read", in{"path": "crlf"}); got != "     1\ta\n     2\tb\n     3\tc\n[no newline at the end of the file]\n" {
		t.Errorf("CRLF: %q", got)
	}
	s.put("empty", "")
	contains(t, s.do("read", in{"path": "empty"}), "is empty")
	s.put("latin", "caf\xe9\n")
	contains(t, s.do("read", in{"path": "latin"}), "caf\uFFFD")
	s.put("many", strings.Repeat("0123456789\n", 5000))
	got := s.do("read", in{"path": "many"})
	contains(t, got, "of 5000; go on with offset ")
	if len(got) > 12_000 {
		t.Errorf("%d bytes at a time", len(got))
	}
}

func TestReadRefusesWhatIsNoText(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("dir/x", "x")
	s.put("Main.go", "x")
	s.put("bin", "\x7fELF\x00\x01")
	if err := syscall.Mkfifo(filepath.Join(s.env.Directory, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte("secret"), 0o644),
		os.Symlink(outside, filepath.Join(s.env.Directory, "link")), os.Symlink(filepath.Dir(outside), filepath.Join(s.env.Directory, "linked")), os.Symlink("/dev/zero", filepath.Join(s.env.Directory, "zero")))
	for name, says := range map[string]string{
		"dir": "is a directory", "bin": "binary file", "fifo": "invalid", "none": "does not exist", "main.go": "did you mean Main.go?",
		"link": "outside the workspace", "linked/secret": "outside the workspace", "zero": "outside the workspace", "../x": "outside the workspace",
		"/etc/passwd": "outside the workspace", "~/x": "outside the workspace", "a/../../x": "outside the workspace", s.env.Directory + "x/y": "outside the workspace",
		"a\x00b": "not a path", "dir/x/y": "not a directory",
	} {
		s.fails("read", in{"path": name}, says)
		if name != "none" && name != "main.go" {
			_, err := s.try("write", in{"path": name, "content": "x"})
			if err == nil {
				t.Errorf("write to %s works", name)
			}
		}
	}
	if b, _ := os.ReadFile(outside); string(b) != "secret" {
		t.Errorf("%s has %q", outside, b)
	}
	s.fails("write", in{"path": ".git/config", "content": "x"}, "git")
}

func TestReadShowsPictures(t *testing.T) {
	t.Parallel()
	s := open(t)
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
	s.put("p.txt", b.String())
	r, err := s.try("read", in{"path": "p.txt"})
	if err != nil || len(r.Images) != 1 || r.Images[0].Media != "image/png" || !bytes.Equal(r.Images[0].Data, b.Bytes()) {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestReadOfHugeFilesIsBounded(t *testing.T) {
	s := open(t)
	s.put("line", strings.Repeat("x", 10<<20))
	if got := s.do("read", in{"path": "line"}); len(got) > 3000 || !strings.Contains(got, "more bytes]") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
	big := filepath.Join(s.env.Directory, "big")
	f, err := os.Create(big)
	must(t, err)
	for range 40 { // 40 MiB
		_, err := f.WriteString(strings.Repeat(strings.Repeat("y", 1023)+"\n", 1024))
		must(t, err)
	}
	must(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := s.do("read", in{"path": "big", "offset": 40_960})
	runtime.ReadMemStats(&after)
	contains(t, got, " 40960\tyyy", "cannot be changed")
	if n := after.TotalAlloc - before.TotalAlloc; n > 48<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	s.fails("read", in{"path": "big", "offset": 50_000}, "only 40960 lines")
	s.fails("edit", in{"path": "big", "old_string": "y", "new_string": "z"}, "larger than")
	must(t, os.Truncate(big, 0), os.Truncate(big, 10<<30)) // sparse
	s.fails("read", in{"path": "big"}, "binary file")
}

func TestWriteNeedsToHaveRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	contains(t, s.do("write", in{"path": "new/dir/a", "content": "1\n"}), "created new/dir/a")
	contains(t, s.do("write", in{"path": "new/dir/a", "content": "2\n"}), "replaced")
	s.has("new/dir/a", "2\n")
	s.put("old", "mine\n")
	s.fails("write", in{"path": "old", "content": "x"}, "was not read")
	s.do("read", in{"path": "old"})
	s.put("old", "mine, changed\n")
	s.fails("write", in{"path": "old", "content": "x"}, "has changed since")
	s.has("old", "mine, changed\n")
	s.do("read", in{"path": "old"})
	s.do("write", in{"path": "./old", "content": ""})
	s.has("old", "")
	must(t, os.Remove(filepath.Join(s.env.Directory, "old")))
	contains(t, s.do("write", in{"path": "old", "content": "again"}), "created")
	s.fails("write", in{"path": "x"}, "content is missing")
}

func TestWriteKeepsTheMode(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("run.sh", "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(s.env.Directory, "run.sh"), 0o755))
	s.do("read", in{"path": "run.sh"})
	s.do("edit", in{"path": "run.sh", "old_string": "/bin/sh", "new_string": "/bin/bash"})
	info, err := os.Stat(filepath.Join(s.env.Directory, "run.sh"))
	if must(t, err); info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	s := open(t)
	edit := func(old, new string) in { return in{"path": "f", "old_string": old, "new_string": new} }
	s.put("f", "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}")
	s.fails("edit", edit("a", "b"), "was not read")
	s.do("read", in{"path": "f"})
	s.fails("edit", edit("return 1", "return 2"), "more than once (lines 2, 6)")
	contains(t, s.do("edit", edit("func b() {\n\treturn 1", "func b() {\n\treturn 2")), "     6\t\treturn 2")
	s.has("f", "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}")
	s.fails("edit", edit("func c() {", "x"), `line 1: "func a() {"`)
	s.fails("edit", edit("func a() {\n    return 1", "x"), "other white space")
	s.fails("edit", edit("     2\t\treturn 1", "x"), "line numbers")
	s.fails("edit", edit("a", "a"), "the same")
	s.fails("edit", edit("", "a"), "must not be empty")
	contains(t, s.do("edit", in{"path": "f", "old_string": "return", "new_string": "go", "replace_all": true}), "2 places")
	s.do("edit", edit("\n\nfunc b() {\n\tgo 2\n}", ""))
	s.has("f", "func a() {\n\tgo 1\n}")
	s.put("f", "changed")
	s.fails("edit", edit("changed", "x"), "has changed since")
	must(t, os.Remove(filepath.Join(s.env.Directory, "f")))
	s.fails("edit", edit("changed", "x"), "does not exist")
	s.put("dir/x", "")
	s.fails("edit", in{"path": "dir", "old_string": "a", "new_string": "b"}, "is a directory")
}

func TestEditKeepsCRLF(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("f", "one\r\ntwo\r\nthree\r\n")
	s.do("read", in{"path": "f"})
	s.do("edit", in{"path": "f", "old_string": "one\ntwo\n", "new_string": "1\n2\n2b\n"})
	s.do("edit", in{"path": "f", "old_string": "three", "new_string": "3\n4"})
	s.has("f", "1\r\n2\r\n2b\r\n3\r\n4\r\n")
	s.put("mixed", "one\r\ntwo\nthree\r\n")
	s.do("read", in{"path": "mixed"})
	s.fails("edit", in{"path": "mixed", "old_string": "one\ntwo", "new_string": "x"}, "not found")
	s.do("edit", in{"path": "mixed", "old_string": "two", "new_string": "2"})
	s.has("mixed", "one\r\n2\nthree\r\n")
}

func TestMultiEditIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("f", "a b c\n")
	s.do("read", in{"path": "f"})
	s.fails("multi_edit", in{"path": "f", "edits": []in{{"old_string": "a", "new_string": "1"}, {"old_string": "z", "new_string": "2"}}}, "edit 2 of 2 (nothing was changed)")
	s.has("f", "a b c\n")
	s.do("multi_edit", in{"path": "f", "edits": []in{{"old_string": "a", "new_string": "1"}, {"old_string": "1 b", "new_string": "2"}}})
	s.has("f", "2 c\n")
	s.fails("multi_edit", in{"path": "f", "edits": []in{}}, "must not be empty")
	s.fails("multi_edit", in{"path": "f", "edits": []in{{"old_string": "a"}}}, "edits[0].new_string is missing")
}

func TestNamesInAnotherUnicodeForm(t *testing.T) {
	t.Parallel()
	s := open(t)
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	s.put(nfd+"/"+nfd+".txt", "x\n")
	s.do("read", in{"path": nfc + "/" + nfc + ".txt"})
	s.do("edit", in{"path": nfc + "/" + nfc + ".txt", "old_string": "x", "new_string": "y"})
	s.has(nfd+"/"+nfd+".txt", "y\n")
	contains(t, s.do("glob", in{"pattern": "*.txt"}), nfd+"/"+nfd+".txt")
	s.do("write", in{"path": nfc + "/new \U0001f600", "content": "z"})
	s.has(nfd+"/new \U0001f600", "z")
	p, err := s.tools["edit"].Plan(s.env, json.RawMessage(`{"path":"`+nfc+`/`+nfc+`.txt","old_string":"a","new_string":"b"}`))
	if err != nil || len(p.Keys) != 1 || p.Keys[0] != "file:"+nfd+"/"+nfd+".txt" || p.Access != harness.AccessEdit {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// TestConcurrentEditsOfOneFile: whatever the order, none is lost.
func TestConcurrentEditsOfOneFile(t *testing.T) {
	t.Parallel()
	s := open(t)
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "line <%d>\n", i)
	}
	s.put("f", text.String())
	s.do("read", in{"path": "f"})
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			if _, err := s.try("edit", in{"path": "f", "old_string": fmt.Sprintf("<%d>", i), "new_string": fmt.Sprintf("(%d)", i)}); err != nil {
				t.Errorf("edit %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	s.has("f", strings.NewReplacer("<", "(", ">", ")").Replace(text.String()))
}

func TestLinksInsideTheWorkspace(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.put("real/f", "a\n")
	must(t, os.Symlink("real", filepath.Join(s.env.Directory, "link")), os.Link(filepath.Join(s.env.Directory, "real/f"), filepath.Join(s.env.Directory, "hard")))
	s.do("read", in{"path": "link/f"})
	s.do("edit", in{"path": "link/f", "old_string": "a", "new_string": "b"})
	s.has("real/f", "b\n")
	s.has("hard", "a\n")
}

func TestAMissingFileIsErrNotExist(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.try("read", in{"path": "no"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := s.try("read", in{"path": "/no"}); !errors.Is(err, tool.ErrOutside) {
		t.Errorf("got %v", err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
