package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// change rewrites a file.
func change(t testing.TB, path string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func database(dir string) string { return filepath.Join(dir, "harness.db") }

func TestASecondServerOnTheSameDataIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, playing(t, dir)...)
	v := p.view("?userId=ada")
	holder := fmt.Sprint("process ", p.cmd.Process.Pid)
	for range 3 {
		mustFail(t, 1, []string{holder, "another process uses this data", "--data"}, append([]string{"serve", "--addr", "127.0.0.1:0"}, playing(t, dir)...)...)
		mustFail(t, 1, []string{holder}, "store", "migrate", "--data", dir)
	}
	acked(t, v.submit("hello"))
	v.see("the answer", saying("hello"))
	p.kill()
	start(t, playing(t, dir)...) // the lock ends with its holder, however it ends
}

// Whatever a database is damaged into, the server refuses it in words, and
// leaves it as it is.
func TestAServerRefusesWhatIsNotItsDatabase(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	seed(t, whole, map[string]string{"ses_a": strings.Repeat("some words ", 2000), "ses_b": "hello"})
	good, err := os.ReadFile(database(whole))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		word   string
	}{
		"the header is noise": {func(b []byte) []byte { copy(b, bytes.Repeat([]byte{0xa7, 3, 0x9b}, 40)); return b }, "damaged"},
		"all is text":         {func(b []byte) []byte { return bytes.Repeat([]byte("not a database. "), 1000) }, "damaged"},
		"half is missing":     {func(b []byte) []byte { return b[:len(b)/2] }, "damaged"},
		"a page is left":      {func(b []byte) []byte { return b[:8192] }, "damaged"},
		"the schema is noise": {func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("commits"), []byte("c\x00mm1ts")) }, "damaged"},
		"a newer format":      {func(b []byte) []byte { b[63] = 9; return b }, "format 9"},
		"somebody else's":     {func(b []byte) []byte { b[71]++; return b }, "something else"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			damaged := c.damage(bytes.Clone(good))
			if err := os.WriteFile(database(dir), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Log(mustFail(t, 1, []string{database(dir), c.word}, append([]string{"serve", "--addr", "127.0.0.1:0"}, playing(t, dir)...)...))
			mustFail(t, 1, []string{database(dir), c.word}, "sessions", "ls", "--data", dir)
			mustFail(t, 1, []string{database(dir), c.word}, "sessions", "show", "--data", dir, "ses_b")
			if after, err := os.ReadFile(database(dir)); err != nil || !bytes.Equal(after, damaged) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestAServerRefusesAFileForADirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, []string{file, "not a directory"}, "serve", "--addr", "127.0.0.1:0", "--data", file)
	mustFail(t, 1, []string{file}, "sessions", "ls", "--data", file)
	mustFail(t, 1, []string{file}, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--store", "sqlite:"+filepath.Join(file, "x.db"))
	dir := t.TempDir()
	mustFail(t, 1, []string{dir}, "serve", "--addr", "127.0.0.1:0", "--store", "sqlite:"+dir)
}

// A damaged session says so to whoever asks for it; the others work; nothing
// of it is left out as if it had never been.
func TestADamagedSessionSaysSoAndOthersWork(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"everywhere": true, "once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			seed(t, dir, map[string]string{"ses_bad": "hello\na rather special word", "ses_good": "hello"})
			n := 0
			change(t, database(dir), func(b []byte) []byte {
				for at := bytes.Index(b, []byte("special")); at >= 0 && (all || n == 0); at = bytes.Index(b, []byte("special")) {
					b[at] ^= 4
					n++
				}
				return b
			})
			if n == 0 {
				t.Fatal("the words are not in the file")
			}
			p := start(t, playing(t, dir)...)
			good := p.view("?sessionId=ses_good")
			acked(t, good.do(`"type":"resume","sessionId":"ses_good","prompt":"and more"`))
			good.see("the answer", saying("and more"))
			bad := p.mustDial("?sessionId=ses_bad")
			if all {
				f := bad.until("an error", func(f frame) bool { return f.Type == "error" })
				if f.Code != "corrupt" || f.Message == "" {
					t.Errorf("the first word is %s: %s", f.Code, f.Message)
				}
				if f, err := bad.read(); websocket.CloseStatus(err) != websocket.StatusInternalError {
					t.Errorf("then comes %+v, %v", f, err)
				}
				// The log can go on behind the damage, but whoever comes to see it is told.
				eve := p.view("?userId=eve")
				f, err := eve.try(`"type":"resume","sessionId":"ses_bad","prompt":"more"`)
				for err == nil && f.Code != "corrupt" {
					f, err = eve.next()
				}
				if err != nil && websocket.CloseStatus(err) != websocket.StatusInternalError {
					t.Errorf("the visitor was not told of the damage: %v", err)
				}
			}
			failures := 0
			for _, verb := range [][]string{{"sessions", "export"}, {"sessions", "show"}, {"replay"}} {
				o := invoke(t, append(verb, "--data", dir, "ses_bad")...)
				if o.code != 0 {
					failures++
					o.code, o.stdout = 1, "" // export has written what was whole, without a seal
					o.failed(t, 1, "ses_bad, events", "wrong checksum", "damaged")
				} else if !strings.Contains(o.stdout, "a rather special word") {
					t.Errorf("%v left something out:\n%s", verb, o.stdout)
				}
			}
			if all && failures != 3 {
				t.Errorf("only %d of 3 found the damage", failures)
			}
			if text := mustRun(t, "sessions", "ls", "--data", dir); !strings.Contains(text, "ses_bad") || !strings.Contains(text, "ses_good") {
				t.Errorf("the list is\n%s", text)
			}
			mustRun(t, "sessions", "export", "--data", dir, "ses_good")
			if code := p.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.errors())
			}
		})
	}
}

// A session whose row is damaged cannot be found, and lists say so instead of
// leaving it out; the others can be reached.
func TestADamagedRowHidesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed(t, dir, map[string]string{"ses_bad": "a rather special word", "ses_good": "hello"})
	n := 0
	change(t, database(dir), func(b []byte) []byte {
		n = bytes.Count(b, []byte(`"title":"a rather special`))
		return bytes.ReplaceAll(b, []byte(`"title":"a rather special`), []byte(`"title":"a rather Special`))
	})
	if n == 0 {
		t.Fatal("the title is not in the file")
	}
	p := start(t, playing(t, dir)...)
	if code, body := p.get("/ws?sessionId=ses_bad", nil); code < 500 || !strings.Contains(body, "damaged") {
		t.Errorf("connecting to the damaged session: %d %s", code, body)
	}
	good := p.view("?sessionId=ses_good")
	acked(t, good.do(`"type":"resume","sessionId":"ses_good","prompt":"and more"`))
	good.see("the answer", saying("and more"))
	o := invoke(t, "sessions", "ls", "--data", dir)
	o.stdout = "" // those before it
	o.failed(t, 1, "ses_bad", "damaged")
	mustFail(t, 1, []string{"ses_bad", "damaged"}, "sessions", "show", "--data", dir, "ses_bad")
	if text := mustRun(t, "sessions", "show", "--data", dir, "ses_good"); !strings.Contains(text, "and more") {
		t.Errorf("the other session is\n%s", text)
	}
}

// A crash may leave a torn record behind the last synced one, and a bad disk
// may lose the end: the first loses nothing, the second only the end.
func TestATornLogOfTheDatabaseLosesOnlyItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, playing(t, dir)...)
	v := p.view("?userId=ada")
	const turns = 5
	for i := range turns {
		acked(t, v.do(`"type":"resume","sessionId":%q,"prompt":"prompt %d"`, v.now.SessionID, i))
		v.see("the answer", saying(fmt.Sprintf("You said: prompt %d", i)))
	}
	id, shown := v.now.SessionID, v.seq
	p.kill()
	wal, err := os.ReadFile(database(dir) + "-wal")
	if err != nil || len(wal) == 0 {
		t.Fatalf("there is no write-ahead log: %v", err)
	}
	reopened := func(t *testing.T, dir string) (prompts int, seq uint64) {
		t.Helper()
		p := start(t, playing(t, dir)...)
		defer p.kill()
		v := p.view("?userId=ada")
		for i, m := range v.now.Messages {
			if want := fmt.Sprintf("prompt %d", i/2); m.Role == "user" && m.Content != want {
				t.Errorf("message %d is %q, want %q", i, m.Content, want)
			}
			if m.Role == "user" {
				prompts++
			}
		}
		acked(t, v.submit("hello again"))
		v.see("the answer", func(s seen) bool { return strings.Contains(said(s), "hello again") })
		if v.now.SessionID != id {
			t.Errorf("the session is %s, was %s", v.now.SessionID, id)
		}
		return prompts, v.seq
	}
	for name, change := range map[string]func([]byte) []byte{
		"whole":          func(b []byte) []byte { return b },
		"a torn record":  func(b []byte) []byte { return append(b, b[len(b)-5000:]...) },
		"noise behind":   func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0x5a}, 9000)...) },
		"cut in the end": func(b []byte) []byte { return b[:len(b)-len(b)/3] },
		"a flipped byte": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"no log":         func(b []byte) []byte { return nil },
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			torn := t.TempDir()
			main, err := os.ReadFile(database(dir))
			if err == nil {
				err = os.WriteFile(database(torn), main, 0o600)
			}
			if err == nil {
				err = os.WriteFile(database(torn)+"-wal", change(bytes.Clone(wal)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			prompts, seq := reopened(t, torn)
			if synced := name == "whole" || name == "a torn record" || name == "noise behind"; synced && (prompts != turns || seq <= shown) {
				t.Errorf("%d prompts up to event %d, want %d beyond %d", prompts, seq, turns, shown)
			}
			if prompts > turns {
				t.Errorf("%d prompts, only %d were sent", prompts, turns)
			}
		})
	}
}

func TestADatabaseDeletedUnderAServerDoesNotCrashIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, playing(t, dir)...)
	v := p.view("?userId=ada")
	acked(t, v.submit("hello"))
	v.see("the answer", saying("hello"))
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		if err := os.Remove(database(dir) + end); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for range 3 {
		if f := v.submit("more"); f.Type != "ack" && f.Type != "error" {
			t.Errorf("a command is answered %s", f.Type)
		}
	}
	other := p.mustDial("?userId=bob")
	other.send(`{"type":"submit","prompt":"hello","commandId":"c"}`)
	other.until("an answer", func(f frame) bool { return f.CommandID == "c" })
	if code, _ := p.get("/healthz", nil); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	if code := p.stop(); code < 0 || strings.Contains(p.errors(), "panic") {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
}
