package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// rewindScript asks to write, says that it does, and waits for a word: what a
// test writes meanwhile is the turn's doing.
const rewindScript = `ask write access=edit
  log writing
  steer
say done
`

// garden is a server whose one session works on real files.
type garden struct {
	*process
	t       *testing.T
	dir     string
	args    []string
	session string
}

func newGarden(t *testing.T, files int, more ...string) *garden {
	t.Helper()
	script := filepath.Join(t.TempDir(), "rewind.script")
	g := &garden{t: t, dir: t.TempDir()}
	if err := os.WriteFile(script, []byte(rewindScript), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range files {
		g.write(fmt.Sprintf("f%03d", n), "first")
	}
	g.args = append([]string{"--data", t.TempDir(), "--cwd", g.dir, "--engine", "script:" + script}, more...)
	g.process = start(t, g.args...)
	var made struct {
		SessionID string `json:"session_id"`
	}
	g.must(201, &made, "/chat/sessions", `{"permission_mode":"full_auto"}`)
	g.session = made.SessionID
	return g
}

func (g *garden) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text+"\n"), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// ask sends a request; an empty body asks to GET.
func (g *garden) ask(path, body string) (int, []byte, error) {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.http+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header = g.bearer(http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp.StatusCode, got, err
}

func (g *garden) must(status int, v any, path, body string) {
	g.t.Helper()
	got, answer, err := g.ask(path, body)
	if err != nil || got != status {
		g.t.Fatalf("%s %s: %d %s %v\n%s", path, body, got, answer, err, g.errors())
	}
	if v != nil {
		if err := json.Unmarshal(answer, v); err != nil {
			g.t.Fatalf("%v in %s", err, answer)
		}
	}
}

// until waits until the session's log has as many events of a kind.
func (g *garden) until(kind string, n int) {
	g.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) { // sleep: between two looks, until a deadline
		_, log, err := g.ask("/sessions/"+g.session+"/events?limit=1000", "")
		if err == nil && bytes.Count(log, []byte(`"type":"`+kind+`"`)) >= n {
			return
		}
		if time.Now().After(late) {
			g.t.Fatalf("no %d %s: %v %s", n, kind, err, log)
		}
	}
}

// turn is the session's n-th: it does work, and ends. It returns its message.
func (g *garden) turn(n int, work func()) string {
	g.t.Helper()
	var said struct {
		ItemID string `json:"item_id"`
	}
	g.must(202, &said, "/chat/sessions/"+g.session+"/turns", `{"prompt":"go"}`)
	g.until("tool_log", n)
	work()
	g.must(200, nil, "/sessions/"+g.session+"/steer", `{"prompt":"go on"}`)
	g.until("turn_end", n)
	return said.ItemID
}

type gone struct {
	ItemID       string   `json:"item_id"`
	FilesChanged []string `json:"files_changed"`
	Conflicts    []string `json:"conflicts"`
}

func (g *garden) rewind(message, more string) (r gone) {
	g.t.Helper()
	g.must(200, &r, "/sessions/"+g.session+"/rewind", fmt.Sprintf(`{"message_id":%q%s}`, message, more))
	return r
}

// holds checks the whole directory: so many files as they were first, and these.
func (g *garden) holds(first int, more map[string]string) {
	g.t.Helper()
	want := map[string]string{}
	for n := range first {
		want[fmt.Sprintf("f%03d", n)] = "first"
	}
	for name, text := range more {
		want[name] = text
	}
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == ".harness" { // an engine's own
			continue
		}
		text, err := os.ReadFile(filepath.Join(g.dir, e.Name()))
		if got := strings.TrimSpace(string(text)); err != nil || want[e.Name()] != got || got == "" {
			g.t.Errorf("%s holds %q, want %q; %v", e.Name(), got, want[e.Name()], err)
		}
		delete(want, e.Name())
	}
	for name := range want {
		g.t.Errorf("%s is not there", name)
	}
}

func TestARewindLeavesEditsFromOutsideAloneUnlessForced(t *testing.T) {
	g := newGarden(t, 3)
	m := g.turn(1, func() { g.write("f000", "second"); g.write("f001", "second"); g.write("new", "second") })
	g.write("f001", "mine")
	if r := g.rewind(m, `,"dry_run":true`); len(r.FilesChanged) != 2 || len(r.Conflicts) != 1 {
		t.Errorf("dry run: %+v", r)
	}
	r := g.rewind(m, "")
	g.holds(3, map[string]string{"f001": "mine"})
	g.rewind(r.ItemID, "")
	g.holds(3, map[string]string{"f000": "second", "f001": "mine", "new": "second"})
	g.rewind(m, `,"force":true`)
	g.holds(3, nil)
	if status, answer, err := g.ask("/sessions/"+g.session+"/rewind", `{"message_id":"itm_none"}`); status != 400 || err != nil {
		t.Errorf("an unknown message: %d %s %v", status, answer, err)
	}
}

func TestSnapshotsOffRefusesARewind(t *testing.T) {
	g := newGarden(t, 1, "--snapshots", "off")
	m := g.turn(1, func() { g.write("f000", "second") })
	if status, answer, err := g.ask("/sessions/"+g.session+"/rewind", fmt.Sprintf(`{"message_id":%q}`, m)); status != 501 || err != nil {
		t.Errorf("%d %s %v", status, answer, err)
	}
}

// Whatever moment the server is killed at during a rewind: asked again, it is
// done, whole, and nothing is left lying about.
func TestKill9DuringARewindIsMadeGood(t *testing.T) {
	const files = 250
	lives := 6
	if os.Getenv("LONG") != "" {
		lives = 200
	}
	g := newGarden(t, files)
	rng := rand.New(rand.NewPCG(uint64(lives), 3))
	cut := 0
	turn := func(n int) string {
		return g.turn(n, func() {
			for i := range files {
				g.write(fmt.Sprintf("f%03d", i), fmt.Sprint("turn ", n))
			}
			g.write("new", "new")
		})
	}
	m := turn(1)
	began := time.Now()
	g.rewind(m, "")
	whole := time.Since(began)
	for n := 2; n <= lives; n++ {
		m := turn(n)
		var asking sync.WaitGroup
		asking.Go(func() {
			if status, _, err := g.ask("/sessions/"+g.session+"/rewind", fmt.Sprintf(`{"message_id":%q}`, m)); err != nil || status != 200 {
				cut++
			}
		})
		time.Sleep(time.Duration(rng.Int64N(int64(whole) * 5 / 4))) // sleep: the moment is what is tried
		g.kill()
		asking.Wait()
		g.process = start(t, g.args...)
		g.rewind(m, "")
		g.holds(files, nil)
		if t.Failed() {
			t.Fatalf("life %d\n%s", n, g.errors())
		}
	}
	t.Logf("%d of %d rewinds were cut off; a whole one takes %s", cut, lives-1, whole)
}
