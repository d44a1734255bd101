package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"harness/custody"
)

// runnerSecret is in what the agent says, in pieces.
const runnerSecret = "hunter2-correct-horse-battery"

// longScript is a run with everything in it that could be lost or doubled, and
// the text that a client must see of it in the end.
func longScript() (script, text string) {
	var s, want strings.Builder
	say := func(part string) {
		fmt.Fprintf(&s, "say %q\n", part)
		want.WriteString(part)
	}
	s.WriteString("when prompt\n")
	for i := range 240 {
		say(fmt.Sprintf("%d ", i))
		switch {
		case i == 120:
			s.WriteString("ask bash {\"command\":\"x\"} access=execute \"Run it\" => ran\n")
		case i%40 == 20:
			for _, piece := range []string{"key=", runnerSecret[:5], runnerSecret[5:12], runnerSecret[12:]} {
				fmt.Fprintf(&s, "say %q\nwait 2ms\n", piece)
			}
			want.WriteString("key=[redacted]")
			say(" ;")
		case i%10 == 3:
			s.WriteString("listen ~\n")
		case i%15 == 7:
			fmt.Fprintf(&s, "tool read {\"path\":\"f%d\"}\nlog \"line %d\\n\"\nwait 1ms\nresult text\noutcome ok\n", i, i)
		}
		s.WriteString("wait 3ms\n")
	}
	say("end.")
	s.WriteString("else\n  say ~\n  echo\nend\n") // words that came when the run was over
	return s.String(), want.String()
}

// lodged starts servers on one data directory whose engine runs in a process of
// its own, and leaves nothing of it.
func lodged(t testing.TB, script string, flags ...string) (dir string, start1 func() *process) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"long.script": script, "key": runnerSecret + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := book(t, dir).Reconcile(context.Background(), func(custody.Entry) bool { return false }); err != nil {
			t.Error(err)
		}
	})
	args := append([]string{"--data", dir, "--engine", "runner:script:" + filepath.Join(dir, "long.script"), "--secret", "file:" + filepath.Join(dir, "key"), "--idle-after", "50ms"}, flags...)
	return dir, func() *process { return start(t, args...) }
}

func book(t testing.TB, dir string) *custody.Book {
	t.Helper()
	b, err := custody.Open(filepath.Join(dir, "custody"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hosts are the living runners of a data directory.
func hosts(t testing.TB, dir string) []custody.Entry {
	t.Helper()
	all, err := book(t, dir).All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// heardWord is the agent's answer to words.
var heardWord = regexp.MustCompile(`~(\n?\{\d+\})+`)

// cutSecret is a secret in whose middle somebody spoke.
var cutSecret = regexp.MustCompile(`key=[0-9a-z-]+\[redacted\]`)

// Whatever moment the server is killed at, its runs go on, and what a client
// sees continues without a lost or doubled character, and what a person says is
// heard once.
func TestKill9OfTheServerLosesNothingOfARun(t *testing.T) {
	t.Parallel()
	kills := 5
	if os.Getenv("LONG") != "" {
		kills = 100
	}
	script, want := longScript()
	dir, begin := lodged(t, script)
	rng := rand.New(rand.NewPCG(uint64(kills), 6))
	turns, amid, words, pids := 0, 0, 0, map[int]bool{}
	seenText := map[string]string{} // by message
	p := begin()
	v := p.view("?userId=ada")
	check := func(s seen) {
		t.Helper()
		for _, m := range s.Messages {
			if !strings.HasPrefix(m.Content, seenText[m.ID]) {
				t.Fatalf("message %s was shown as\n%q and is now\n%q", m.ID, seenText[m.ID], m.Content)
			}
			seenText[m.ID] = m.Content
		}
	}
	for amid < kills {
		acked(t, v.submit(fmt.Sprintf("prompt %d", turns)))
		turns++
		for {
			frames := 1 + rng.IntN(90)
			ended, asked := false, ""
			for ; frames > 0 && !ended; frames-- {
				if _, err := v.next(); err != nil {
					t.Fatalf("after %d kills: %v; the session is %s, waits for %+v and said %q\n%s", amid, err, v.now.Status, v.now.PendingApprovals, said(v.now)[max(0, len(said(v.now))-300):], p.errors())
				}
				check(v.now)
				if early := !strings.Contains(said(v.now)[strings.LastIndex(said(v.now), "end.")+1:], " 100 "); early && v.now.Status == "running" && rng.IntN(30) == 0 {
					f := v.do(`"type":"steer","message":"{%d}"`, words+1)
					if f.Code != "not_running" {
						acked(t, f)
						words++
					}
				}
				if pending(v.now) && v.now.PendingApprovals[0].ToolCallID != asked {
					asked = v.now.PendingApprovals[0].ToolCallID
					if rng.IntN(2) == 0 {
						acked(t, v.do(`"type":"approve","toolCallId":%q`, asked))
					} else if err := v.send(fmt.Sprintf(`{"commandId":"c%d","type":"approve","toolCallId":%q}`, rng.Int(), asked)); err != nil { // perhaps it is never heard of again
						t.Fatal(err)
					}
				}
				ended = v.now.Status == "idle" && strings.HasSuffix(heardWord.ReplaceAllString(said(v.now), ""), "end.")
				if v.now.Status == "error" {
					t.Fatalf("after %d kills the turn failed: %s\n%s", amid, v.now.Error, p.errors())
				}
			}
			if ended {
				break
			}
			p.kill()
			amid++
			for _, e := range hosts(t, dir) {
				pids[e.PID] = true
			}
			if n := len(hosts(t, dir)); n != 1 {
				t.Fatalf("%d runners after the server was killed", n)
			}
			p = begin()
			v = p.view("?userId=ada")
			check(v.now)
			for pending(v.now) { // what was not acknowledged is said again
				f := v.do(`"type":"approve","toolCallId":%q`, v.now.PendingApprovals[0].ToolCallID)
				if f.Type == "error" && f.Code != "already_resolved" && f.Code != "approval_not_found" {
					t.Fatalf("%s: %s", f.Code, f.Message)
				}
				v.see("the answer", func(s seen) bool { return !pending(s) || s.PendingApprovals[0].ToolCallID == "" })
			}
			if v.now.Status == "idle" {
				break
			}
		}
		v.see("the end of the turn", func(s seen) bool {
			return s.Status == "idle" && (words == 0 || strings.Contains(said(s), fmt.Sprintf("{%d}", words)))
		})
		check(v.now)
		got := said(v.now)
		for w := range words {
			if n := strings.Count(got, fmt.Sprintf("{%d}", w+1)); n != 1 {
				t.Fatalf("after %d kills word %d was heard %d times in\n%q", amid, w+1, n, got)
			}
		}
		got = heardWord.ReplaceAllString(got, "")
		if n := len(cutSecret.FindAllString(got, -1)); n > words || strings.Contains(got, runnerSecret) { // what was held back when somebody spoke is shown
			t.Fatalf("after %d kills and %d words a secret is in\n%q", amid, words, got)
		}
		if got = cutSecret.ReplaceAllString(got, "key=[redacted]"); got != strings.Repeat(want, turns) {
			t.Fatalf("after %d kills the text of %d turns is\n%q, want that many of\n%q", amid, turns, got, want)
		}
	}
	t.Logf("%d turns, %d words, %d kills in the middle of a turn, %d runners", turns, words, amid, len(pids)) // a kill at the end of a turn costs its runner
}

func TestAStoppedServerFindsItsRunsAgain(t *testing.T) {
	t.Parallel()
	script, want := longScript()
	dir, begin := lodged(t, script, "--drain", "1ms")
	p := begin()
	v := p.view("?userId=ada")
	acked(t, v.submit("prompt"))
	v.see("some of it", func(s seen) bool { return strings.Contains(said(s), " 30 ") })
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.errors())
	}
	if n := len(hosts(t, dir)); n != 1 {
		t.Fatalf("%d runners after the server was stopped", n)
	}
	p = begin()
	v = p.view("?userId=ada")
	v.see("the question", pending)
	acked(t, v.do(`"type":"approve","toolCallId":%q`, v.now.PendingApprovals[0].ToolCallID))
	v.see("the end of the turn", func(s seen) bool { return s.Status == "idle" })
	if got := said(v.now); got != want {
		t.Errorf("the text is\n%q, want\n%q", got, want)
	}
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.errors())
	}
	until(t, "the runner that has nothing to do to go with its server", func() bool { return len(hosts(t, dir)) == 0 })
}

// A server does not wait for turns that go on without it, however long it may.
func TestAStoppedServerDoesNotWaitForItsRuns(t *testing.T) {
	t.Parallel()
	dir, begin := lodged(t, "say one\nsteer\nsay two\n", "--drain", "10m")
	p := begin()
	v := p.view("?userId=ada")
	acked(t, v.submit("prompt"))
	v.see("the run", func(s seen) bool { return said(s) == "one" })
	began := time.Now()
	if code := p.stop(); code != 0 { // or it is too late
		t.Fatalf("exit code %d\n%s", code, p.errors())
	}
	t.Logf("it took %s", time.Since(began))
	if n := len(hosts(t, dir)); n != 1 {
		t.Fatalf("%d runners after the server was stopped", n)
	}
	v = begin().view("?userId=ada")
	acked(t, v.do(`"type":"steer","message":"go on"`))
	if s := v.see("the end", func(s seen) bool { return s.Status == "idle" }); said(s) != "onesteered: go ontwo" {
		t.Errorf("the text is %q", said(s))
	}
}

func TestKill9OfTheRunnerEndsTheTurnWithAClearError(t *testing.T) {
	t.Parallel()
	script, _ := longScript()
	dir, begin := lodged(t, script)
	p := begin()
	v := p.view("?userId=ada")
	acked(t, v.submit("prompt"))
	v.see("some of it", func(s seen) bool { return strings.Contains(said(s), " 30 ") })
	if err := custody.Kill(t.Context(), hosts(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	s := v.see("the end of the turn", func(s seen) bool { return s.Status == "error" })
	if !strings.Contains(s.Error, "the runner died, and the agent with it") {
		t.Errorf("the error is %q", s.Error)
	}
	acked(t, v.submit("prompt again")) // another runner does it
	v.see("another turn", func(s seen) bool { return strings.Count(said(s), " 30 ") == 2 })
}

func TestARunnerThatDiedWithTheServerLeavesAnInterruptedTurn(t *testing.T) {
	t.Parallel()
	script, _ := longScript()
	dir, begin := lodged(t, script)
	p := begin()
	v := p.view("?userId=ada")
	acked(t, v.submit("prompt"))
	v.see("some of it", func(s seen) bool { return strings.Contains(said(s), " 30 ") })
	p.kill()
	if err := custody.Kill(t.Context(), hosts(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	p = begin()
	s := p.view("?userId=ada").see("the end of the turn", func(s seen) bool { return s.Status == "error" })
	if !strings.Contains(s.Error, "stopped while the turn was running") || !strings.Contains(said(s), " 30 ") {
		t.Errorf("the state is %+v", s)
	}
}

func TestARunnerThatNoTurnNeedsIsEndedAtTheNextStart(t *testing.T) {
	t.Parallel()
	dir, begin := lodged(t, "say hello\n")
	p := begin()
	v := p.view("?userId=ada")
	acked(t, v.submit("prompt"))
	v.see("the answer", saying("hello"))
	p.kill()
	if n := len(hosts(t, dir)); n != 1 {
		t.Fatalf("%d warm runners", n)
	}
	p = begin()
	if n := len(hosts(t, dir)); n != 0 {
		t.Errorf("%d runners after the next start\n%s", n, p.errors())
	}
	until(t, "the server to say so", func() bool { return strings.Contains(p.errors(), "no turn needs") })
}
