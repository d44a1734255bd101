package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ledger is what a client of many lives of `harness stdio` was promised.
type ledger struct {
	thread  string
	seq     uint64          // the highest that was told
	prompts map[string]bool // of turns whose start was answered
	decided map[string]bool // approvals whose answer was answered
	said    map[string]string
	turns   int
}

// heard takes a notification down.
func (l *ledger) heard(h heard) {
	l.seq = max(l.seq, h.Params.Seq)
	if h.Method == "item.delta" && h.Params.Type == "assistant_message" && !h.Params.Reasoning {
		l.said[h.Params.ItemID] += h.Params.Delta
	}
}

// check compares a log, as it lies there, with what was promised.
func (l *ledger) check(log []byte, torn bool) error {
	lines := uint64(bytes.Count(log, []byte("\n")))
	if lines < l.seq {
		return fmt.Errorf("%d lines, and %d was told", lines, l.seq)
	}
	if !torn && len(log) > 0 && log[len(log)-1] != '\n' {
		return fmt.Errorf("the last line is torn")
	}
	for p := range l.prompts {
		if !bytes.Contains(log, []byte(`"`+p+`"`)) {
			return fmt.Errorf("the turn %q was answered and is not there", p)
		}
	}
	for id := range l.decided {
		if !bytes.Contains(log, []byte(`"approval_applied"`)) || bytes.Count(log, []byte(id)) < 2 {
			return fmt.Errorf("the decision about %s was answered and is not there", id)
		}
	}
	return nil
}

// recall compares thread.get with what was told, and with the log.
func (l *ledger) recall(c *lineClient, path string) error {
	result, err := c.try("thread.get", `"threadId":%q`, l.thread)
	if err != nil {
		return err
	}
	var got struct {
		Thread struct{ Seq uint64 }
		Events []struct {
			Notification, ItemID, Type, Delta string
			Reasoning                         bool
			Seq                               uint64
		}
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return err
	}
	said := map[string]string{}
	last := uint64(0)
	for _, e := range got.Events {
		last = max(last, e.Seq)
		if e.Notification == "item.delta" && e.Type == "assistant_message" && !e.Reasoning {
			said[e.ItemID] += e.Delta
		}
	}
	if last < l.seq {
		return fmt.Errorf("thread.get ends at %d, %d was told", last, l.seq)
	}
	for id, text := range l.said {
		if !strings.HasPrefix(said[id], text) {
			return fmt.Errorf("message %s was told as %q and is now %q", id, text, said[id])
		}
	}
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := uint64(bytes.Count(log, []byte("\n"))); n < got.Thread.Seq {
		return fmt.Errorf("%d lines, the thread is at %d", n, got.Thread.Seq)
	}
	return l.check(log, true) // a recovered turn may be writing
}

// Whatever moment `harness stdio` is killed at: every acknowledged thing is in
// events.jsonl, what was told can be read again, and in the end a line is an
// event.
func TestKill9OfStdioLosesNothing(t *testing.T) {
	t.Parallel()
	lives := 10
	if os.Getenv("LONG") != "" {
		lives = 100
	}
	dir := t.TempDir()
	script := filepath.Join(t.TempDir(), "kill.script")
	if err := os.WriteFile(script, []byte(strings.ReplaceAll(killScript, `say "word "`, "say \"word \"\n    wait 1ms")), 0o600); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(lives), 7))
	l := &ledger{prompts: map[string]bool{}, decided: map[string]bool{}, said: map[string]string{}}
	begin := func() *lineClient {
		c := openLines(t, invocation(t, "stdio", "--cwd", dir, "--engine", "script:"+script))
		if l.thread == "" {
			l.thread = c.do("thread.threadId", "thread.create", "")
		}
		return c
	}
	var path string
	for life := range lives {
		c := begin()
		path = filepath.Join(dir, ".harness", "threads", l.thread, "events.jsonl")
		left := 0
		var ask string
		c.hears = func(h heard) {
			l.heard(h)
			if h.Method == "approval.requested" {
				ask = h.Params.RequestID
			}
			if left--; left == 0 {
				c.cmd.Process.Kill() // what it has written may still be read
			}
		}
		if err := l.recall(c, path); err != nil { // a question of an earlier life is asked again
			t.Fatalf("life %d: %v\n%s", life, err, c.errs.String())
		}
		left = 1 + rng.IntN(60)
		for c.live(l, &ask, rng) {
		}
		c.cmd.Wait()
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.check(log, true); err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
	}
	c := begin()
	if err := l.recall(c, path); err != nil {
		t.Fatal(err)
	}
	if code := c.leave(); code != 0 || c.errs.Len() > 0 {
		t.Errorf("exit code %d\n%s", code, c.errs.String())
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.check(log, false); err != nil {
		t.Error(err)
	}
	end := log[bytes.LastIndexByte(log[:len(log)-1], '\n')+1:]
	var e struct{ Seq int }
	if err := json.Unmarshal(end, &e); err != nil || e.Seq != bytes.Count(log, []byte("\n")) {
		t.Errorf("%d lines, the last one is %s: %v", bytes.Count(log, []byte("\n")), end, err)
	}
	t.Logf("%d lives, %d turns and %d approvals acknowledged, %d events told", lives, len(l.prompts), len(l.decided), l.seq)
	if len(l.prompts) == 0 || len(l.decided) == 0 {
		t.Error("nothing was acknowledged, so nothing was tested")
	}
}

// live does one more thing and reports whether the process still lives.
func (c *lineClient) live(l *ledger, ask *string, rng *rand.Rand) bool {
	if id := *ask; id != "" {
		*ask = ""
		_, err := c.try("approval.respond", `"requestId":%q,"decision":"once"`, id)
		if f, ok := err.(*fault); ok && f.Code == -32004 {
			return true // it was decided in an earlier life
		}
		if err == nil {
			l.decided[id] = true
		}
		return err == nil
	}
	l.turns++
	prompt := fmt.Sprintf("prompt %d", l.turns)
	if rng.IntN(2) == 0 {
		prompt += " ask"
	}
	_, err := c.try("turn.start", `"threadId":%q,"input":[{"type":"text","text":%q}]`, l.thread, prompt)
	if f, ok := err.(*fault); ok && f.Code == -32002 { // one of an earlier life runs, or asks
		for *ask == "" {
			if m, err := c.line(); err != nil || m.Method == "turn.completed" || m.Method == "turn.error" {
				return err == nil
			}
		}
		return true
	}
	if err != nil {
		return false
	}
	l.prompts[prompt] = true
	for *ask == "" {
		m, err := c.line()
		if err != nil {
			return false
		}
		if m.Method == "turn.completed" || m.Method == "turn.error" {
			return true
		}
	}
	return true
}
