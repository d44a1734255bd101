package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestApprovalsAreAskedOnTheTerminal(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"y": "→ allowed\n✓ bash x", "n": "→ rejected\n✗ bash x", "a": "→ allowed from now on\n✓ bash x"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p := onTerminal(t, running(t, t.TempDir(), "ask"))
			p.expect(" reject")
			p.press("q" + key) // the first is no answer
			if code := p.exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if s := p.shows(); !strings.Contains(s, "asking\n\n? bash  Run it\n    command: x\n  "+want) || !strings.Contains(s, "go on: harness run --thread ses_") || strings.Contains(s, "allow once") {
				t.Errorf("the terminal shows\n%s", s)
			}
		})
	}
}

func TestRunSaysWhatTheTurnUsed(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, invocation(t, "run", "--store", "memory", "--engine", "script:"+write(t, filepath.Join(t.TempDir(), "s"), "say hi\nusage 10 7"), "x"))
	if code := p.exit(); code != 0 || !strings.Contains(p.shows(), " · 10 tokens in, 7 out\n") {
		t.Errorf("exit code %d\n%s", code, p.shows())
	}
}

func TestCtrlCOnTheTerminal(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, running(t, t.TempDir(), "hang"))
	p.expect("hanging")
	p.press("\x03")
	if code := p.exit(); code != 130 || !strings.Contains(p.shows(), "hanging\n\ncancelled after ") {
		t.Errorf("exit code %d\n%s", code, p.shows())
	}
}

func TestNeitherModelNorToolSteersTheTerminal(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "evil.script")
	const evil = `think "\u001b]0;owned\u0007"
say "a\u001b[2Jb\u009b31mc\u202ed\r"
call read {"path":"\u001b[2J"} => "\u001b[5A"
ask bash {"command":"ls\u001b[1A\u001b[2K"} access=execute "\u001b[8mRun it" => ran
`
	if err := os.WriteFile(script, []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--store", "memory", "--engine", "script:" + script, "--approve", "all", "x"}
	o := finish(t, invocation(t, append([]string{"run"}, args...)...))
	if o.code != 0 || strings.ContainsAny(o.stdout, "\x1b\x07\r\u009b\u202e") || !strings.Contains(o.stdout, "a·[2Jb·31mc·d·") || !strings.Contains(o.stdout, "ls·[1A·[2K") {
		t.Errorf("exit code %d: %q\n%s", o.code, o.stdout, o.stderr)
	}
	p := onTerminal(t, invocation(t, append([]string{"run"}, args...)...))
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, bad := range []string{"\x1b[2J", "\x1b[5A", "\x1b]0", "\x07", "\x1b[8m", "\u009b", "\u202e"} {
		if strings.Contains(p.text(), bad) {
			t.Errorf("the terminal was given %q", bad)
		}
	}
}

func TestColoursAndMovementCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	with := func(env ...string) *pty {
		cmd := running(t, t.TempDir(), "tools")
		p := onTerminal(t, withEnv(cmd, env...))
		if code := p.exit(); code != 0 {
			t.Errorf("%v: exit code %d", env, code)
		}
		return p
	}
	if p := with("NO_COLOR=1"); strings.Contains(p.text(), "m") && strings.Contains(p.text(), "\x1b[2m") || !strings.Contains(p.shows(), "thinking: hm") {
		t.Errorf("NO_COLOR: %q", p.text())
	}
	cmd := running(t, t.TempDir(), "tools")
	dumb := exec.Command("env", append([]string{"TERM=dumb"}, cmd.Args...)...)
	dumb.Env, dumb.Dir = cmd.Env, cmd.Dir
	p := onTerminal(t, dumb)
	if code := p.exit(); code != 0 || strings.Contains(p.text(), "\x1b") {
		t.Errorf("TERM=dumb: exit code %d, %q", code, p.text())
	}
}

func withEnv(cmd *exec.Cmd, env ...string) *exec.Cmd {
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func TestRunOnAServerIsAnsweredByAnotherClient(t *testing.T) {
	t.Parallel()
	s := start(t, playing(t, t.TempDir())...)
	p := onTerminal(t, invocation(t, "run", "--connect", s.http, "ask"))
	p.expect(" reject")
	list := openLines(t, invocation(t, "stdio", "--connect", s.http))
	threads := list.do("threads", "thread.list", "")
	_, id, _ := strings.Cut(threads, `"threadId":"`)
	id, _, _ = strings.Cut(id, `"`)
	v := s.view("?sessionId=" + id)
	acked(t, v.do(`"type":"approve","toolCallId":%q`, v.see("the question", pending).PendingApprovals[0].ToolCallID))
	if code := p.exit(); code != 0 || !strings.Contains(p.shows(), "→ allowed by another client\n✓ bash x") {
		t.Errorf("exit code %d\n%s", code, p.shows())
	}
}

func TestAttachToAServer(t *testing.T) {
	t.Parallel()
	s := start(t, playing(t, t.TempDir())...)
	v := s.view("?userId=ada")
	acked(t, v.submit("tools please"))
	v.see("the answer", saying("one\ntwo"))
	p := onTerminal(t, invocation(t, "attach", "--connect", s.http))
	p.expect("Enter sends")
	p.press("asx\x7fk\n")
	p.expect(" reject")
	p.press("y")
	v.see("the answer", saying("asking done"))
	p.expect("done")
	p.press("hold\r")
	p.expect("holding")
	p.press("on\n")
	v.see("the answer", saying("heard"))
	p.expect("bye")
	v.see("rest", func(s seen) bool { return s.Status == "idle" })
	p.press("hang\n")
	p.expect("hanging")
	p.press("\x1b")
	v.see("the end", func(s seen) bool { return s.Status == "idle" && strings.Contains(said(s), "hanging") })
	p.press("fail\n")
	p.expect("it broke")
	p.press("\x03")
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	shows := p.shows()
	for _, want := range []string{"session " + v.now.SessionID + " on " + s.http, "› tools please\n\nhm\n\n✓ read a\n  text\n\none\ntwo\n\n› ask\n\nasking\n\n? bash  Run it\n    command: x\n  → allowed\n✓ bash x",
		"› hold\n\nholding\n\n› on\n\nheard on", "› hang\n\nhanging\n\ncancelled\n", "failed: it broke\n"} {
		if !strings.Contains(shows, want) {
			t.Errorf("%q is missing from\n%s", want, shows)
		}
	}
}

func TestAttachToALocalThread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if o := finish(t, running(t, dir, "tools please")); o.code != 0 {
		t.Fatal(o.stderr)
	}
	p := onTerminal(t, invocation(t, append([]string{"attach"}, playingHere(t, dir)...)...))
	p.expect("two")
	p.press("ask\n")
	p.expect(" reject")
	p.press("n")
	p.expect("done")
	p.press("hang\n")
	p.expect("hanging")
	p.press("\x03") // cancels, and leaves when that is done
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	shows := p.shows()
	for _, want := range []string{"› tools please\n\nhm\n\n✓ read a  0.0s\n  text\n\none\ntwo\n\n› ask\n\nasking\n\n? bash  Run it\n", "→ rejected\n✗ bash x", "› hang\n\nhanging\n\ncancelled\n"} {
		if !strings.Contains(shows, want) {
			t.Errorf("%q is missing from\n%s", want, shows)
		}
	}
}

func TestAttachInAPipeSendsLines(t *testing.T) {
	t.Parallel()
	s := start(t, playing(t, t.TempDir())...)
	v := s.view("?userId=ada")
	acked(t, v.submit("hello"))
	v.see("the answer", saying("hello"))
	cmd := invocation(t, "attach", "--connect", s.http, v.now.SessionID)
	cmd.Stdin = strings.NewReader("ask\n")
	underWay(t, cmd, "? bash  Run it")
	cmd.Process.Signal(os.Interrupt)
	if code := ended(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
	v.see("that it goes on", pending)
}
