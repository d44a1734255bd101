package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness/engine/agenttest"
	"harness/model/modeltest"
)

// bridgeScene is something that people do with an agent: they drive it over one
// protocol, and see over another what came of it.
type bridgeScene struct {
	name       string
	drive, see string // ws, rest or sse, rpc
	model      string // what its model is scripted to do
	play       func(*bridgePlay)
}

// bridgePlay is a scene under way, on a real server.
type bridgePlay struct {
	*testing.T
	*bridgeScene
	agent  agentUnderTest
	models *modeltest.Server
	dir    string // that the session works in
	data   string // of the server
	server *process
	hand   hand
	eye    eye
	id     string // of the session
}

// agentUnderTest is a program of other people behind the real server.
type agentUnderTest struct {
	program string // see agenttest
	// serve is the engine, and the flags that give it its model.
	serve func(p *bridgePlay, bin string) []string
}

// playAll plays scenes, where nothing but loopback can be reached: those that
// are named, or all of them in CI and with LONG=1. What the others are about, the bridge's
// own tests play with what the program said when it was recorded.
func (a agentUnderTest) playAll(t *testing.T, scenes []bridgeScene, always ...string) {
	bin := agenttest.Installed(t, a.program)
	if !agenttest.Alone(t) {
		return
	}
	for _, s := range scenes {
		t.Run(s.name+" by "+s.drive+" seen by "+s.see, func(t *testing.T) {
			if os.Getenv("LONG")+os.Getenv("CI") == "" && !slices.Contains(always, s.name) {
				t.Skip("CI and LONG=1 play it with the real program")
			}
			if http := map[string]string{"rest": "http", "sse": "http"}; cmp.Or(http[s.drive], s.drive) == cmp.Or(http[s.see], s.see) {
				t.Fatal("it is driven and seen over the same protocol")
			}
			t.Parallel()
			p := &bridgePlay{T: t, bridgeScene: &s, agent: a, dir: t.TempDir(), data: t.TempDir()}
			p.models = modeltest.Serve(t, strings.ReplaceAll(s.model, "$WORK", p.dir))
			p.start(bin)
			s.play(p)
		})
	}
}

// start starts the server, or another after it was killed.
func (p *bridgePlay) start(bin string) {
	p.Helper()
	p.server = start(p, append(p.agent.serve(p, bin), "--data", p.data, "--cwd", p.dir)...)
	p.over(p.drive, p.bridgeScene.see)
}

// over drives and watches the session over these protocols from here on.
func (p *bridgePlay) over(drive, see string) {
	p.Helper()
	p.hand = p.server.hand(p.T, drive, p.id)
	if p.id != "" {
		p.eye = p.server.eye(p.T, see, p.id)
	}
}

// say goes on with the session, or begins it.
func (p *bridgePlay) say(prompt string) {
	p.Helper()
	if p.id != "" {
		p.hand.say(prompt)
		return
	}
	p.id = p.hand.begin(prompt)
	p.eye = p.server.eye(p.T, p.bridgeScene.see, p.id)
}

func (p *bridgePlay) until(what string, cond func(*known) bool) *known {
	p.Helper()
	return see(p.T, p.eye, what, cond)
}

// said waits until the agent has said this, and rests.
func (p *bridgePlay) said(text string) *known {
	p.Helper()
	v := p.until(text, func(v *known) bool { return !v.busy && (v.failed != "" || strings.Contains(v.text, text)) })
	if v.failed != "" {
		p.Fatalf("%s\n%s", v.failed, p.server.errors())
	}
	return v
}

// asked waits for a question.
func (p *bridgePlay) asked() asking {
	p.Helper()
	v := p.until("question", func(v *known) bool { return len(v.asks) > 0 || v.failed != "" })
	if v.failed != "" {
		p.Fatalf("%s\n%s", v.failed, p.server.errors())
	}
	return v.asks[0]
}

// allow answers the question that waits.
func (p *bridgePlay) allow() {
	p.Helper()
	p.hand.answer(p.asked(), "allow", "once", "")
}

// called checks how calls came out, in order.
func (p *bridgePlay) called(want ...string) {
	p.Helper()
	if got := p.eye.now().calls; strings.Join(got, ", ") != strings.Join(want, ", ") {
		p.Errorf("the calls were %q, want %q", got, want)
	}
}

// told checks what the last request to the model has, and does not have.
func (p *bridgePlay) told(with string, without ...string) {
	p.Helper()
	all := p.models.Requests()
	body := string(all[len(all)-1].Body)
	if !strings.Contains(body, with) {
		p.Errorf("the last of %d requests does not have %q: …%s", len(all), with, body[max(0, len(body)-1000):])
	}
	for _, w := range without {
		if strings.Contains(body, w) {
			p.Errorf("the last of %d requests has %q", len(all), w)
		}
	}
}

// holds checks a file; "" if it is not there.
func (p *bridgePlay) holds(name, want string) {
	p.Helper()
	if b, err := os.ReadFile(filepath.Join(p.dir, name)); string(b) != want || err != nil && !os.IsNotExist(err) {
		p.Errorf("%s holds %q, %v; want %q", name, b, err, want)
	}
}

// wrapper is a program that runs another with more variables.
func (p *bridgePlay) wrapper(bin string, env []string, args ...string) string {
	p.Helper()
	text := "#!/bin/sh\n"
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		text += "export " + name + "='" + value + "'\n"
	}
	path := filepath.Join(p.TempDir(), "agent")
	if err := os.WriteFile(path, []byte(text+"exec "+strings.Join(append([]string{bin}, args...), " ")+" \"$@\"\n"), 0o755); err != nil {
		p.Fatal(err)
	}
	return path
}

// key is a file with a key, as --key takes it.
func (p *bridgePlay) key() string {
	p.Helper()
	file := filepath.Join(p.TempDir(), "key")
	if err := os.WriteFile(file, []byte(modelKey), 0o600); err != nil {
		p.Fatal(err)
	}
	return "file:" + file
}

// process is a process of the session.
func (p *bridgePlay) process() int {
	p.Helper()
	_, body := p.server.get("/sessions/"+p.id+"/processes", nil)
	var all struct {
		Processes []struct {
			PID int `json:"pid"`
		}
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Processes) == 0 {
		p.Fatalf("%s %v", body, err)
	}
	return all.Processes[0].PID
}
