package main

import (
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// ownGroup starts a server in a process group of its own.
func ownGroup(t testing.TB, args ...string) *process {
	t.Helper()
	cmd := invocation(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return launch(t, cmd)
}

// gone fails if anything of the server's process group is left.
func (p *process) gone() {
	p.t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		p.t.Errorf("something of the server is left: %v", err)
	}
}

// signal sends SIGTERM and returns when the server takes no more work.
func (p *process) signal() {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	for end := time.Now().Add(patience); ; {
		if code, _ := p.get("/readyz", nil); code == http.StatusServiceUnavailable {
			return
		}
		if time.Now().After(end) {
			p.t.Fatal("the server is still ready after SIGTERM")
		}
	}
}

func TestAStoppingServerLetsTurnsEndAndTakesNoNewOnes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := ownGroup(t, playing(t, dir, "--drain", "1m")...)
	v, other := p.view("?userId=ada"), p.view("?userId=bob")
	acked(t, v.submit("hold on"))
	v.see("the turn", func(s seen) bool { return strings.Contains(said(s), "holding") })
	p.signal()
	var taken []string
	for {
		prompt := "prompt " + string(rune('a'+len(taken)))
		f := other.submit(prompt)
		if f.Type == "error" {
			if f.Code != "unavailable" || f.Message == "" {
				t.Errorf("the refusal is %s: %s", f.Code, f.Message)
			}
			break
		}
		taken = append(taken, prompt)
	}
	if code, _ := p.get("/healthz", nil); code != 200 {
		t.Errorf("a stopping server is alive, but /healthz says %d", code)
	}
	if f := v.submit("one more"); f.Code != "unavailable" {
		t.Errorf("a prompt behind the running turn: %s %s", f.Type, f.Code)
	}
	acked(t, v.do(`"type":"steer","message":"end now"`))
	s := v.see("the end of the turn", saying("end now bye"))
	if last := s.Messages[len(s.Messages)-1]; last.Status != "complete" {
		t.Errorf("the last message is %s", last.Status)
	}
	for _, c := range []*viewer{v, other} {
		for {
			if _, err := c.next(); err != nil {
				if code := websocket.CloseStatus(err); code != websocket.StatusGoingAway {
					t.Errorf("the connection ended with %v", err)
				}
				break
			}
		}
	}
	if code := p.wait(); code != 0 || strings.Contains(p.errors(), "ERROR") {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
	p.gone()
	p = start(t, playing(t, dir)...)
	if s := p.view("?userId=ada").now; !saying("end now bye")(s) {
		t.Errorf("after a restart the state is %+v", s)
	}
	p.view("?userId=bob").see("what was taken", func(s seen) bool {
		n := 0
		for _, m := range s.Messages {
			if m.Role == "user" {
				n++
			}
		}
		return n == len(taken) && s.Status == "idle"
	})
}

func TestATurnThatOutlastsTheDrainIsInterruptedAtTheNextStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := ownGroup(t, playing(t, dir, "--drain", "50ms")...)
	v := p.view("?userId=ada")
	acked(t, v.submit("hang"))
	v.see("the turn", func(s seen) bool { return strings.Contains(said(s), "hanging") })
	if code := p.stop(); code != 0 || !strings.Contains(p.errors(), "still running") {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
	p.gone()
	id := v.now.SessionID
	if text := mustRun(t, "sessions", "show", "--data", dir, id); !strings.Contains(text, "running") {
		t.Errorf("the turn is not open:\n%s", text)
	}
	p = start(t, playing(t, dir)...)
	s := p.view("?userId=ada").see("the end", func(s seen) bool { return s.Status == "error" })
	if !strings.Contains(s.Error, "stopped while the turn was running") || !strings.Contains(said(s), "hanging") {
		t.Errorf("the state is %+v", s)
	}
	if text := mustRun(t, "sessions", "show", "--data", dir, id); !strings.Contains(text, "interrupted") {
		t.Errorf("the turn is not interrupted:\n%s", text)
	}
	v = p.view("?userId=ada")
	acked(t, v.submit("hello"))
	v.see("a new turn", saying("You said: hello"))
}

func TestAQuestionOutlivesARestartAndDoesNotHoldItUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := ownGroup(t, playing(t, dir, "--drain", "10m")...)
	v := p.view("?userId=ada")
	acked(t, v.submit("ask"))
	call := v.see("the question", pending).PendingApprovals[0].ToolCallID
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
	p.gone()
	p = start(t, playing(t, dir)...)
	v = p.view("?userId=ada")
	if s := v.now; s.Status != "awaiting-approval" || !pending(s) || s.PendingApprovals[0].ToolCallID != call {
		t.Fatalf("after a restart the state is %+v", s)
	}
	acked(t, v.do(`"type":"approve","toolCallId":%q`, call))
	v.see("the end of the turn", saying(" done"))
}

func TestASecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	p := ownGroup(t, playing(t, t.TempDir(), "--drain", "10m")...)
	v := p.view("?userId=ada")
	acked(t, v.submit("hang"))
	v.see("the turn", func(s seen) bool { return strings.Contains(said(s), "hanging") })
	p.signal()
	again := time.NewTicker(20 * time.Millisecond) // the first may not have been seen to in full
	defer again.Stop()
	for late := time.After(patience); ; {
		select {
		case err := <-p.exited:
			p.exited <- err
			p.gone()
			return
		case <-again.C:
			p.cmd.Process.Signal(syscall.SIGTERM)
		case <-late:
			t.Fatal("the server did not end")
		}
	}
}

func TestAnIdleServerStopsAtOnce(t *testing.T) {
	t.Parallel()
	p := ownGroup(t, playing(t, t.TempDir(), "--drain", "10m", "--idle-after", "10m")...)
	v := p.view("?userId=ada")
	acked(t, v.submit("hello"))
	v.see("the turn", saying("hello"))
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
	p.gone()
}
