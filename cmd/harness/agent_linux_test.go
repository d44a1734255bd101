package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"harness/engine/agenttest"
	"harness/model/modeltest"
)

// modelKey is a key that the model server must get and nobody else may see.
const modelKey = "sk-test-0123456789abcdefghijklmnop"

// turns runs a prompt over HTTP and returns the turn's events, by type.
func (p *process) turns(t *testing.T, prompt, mode string) map[string][]map[string]any {
	t.Helper()
	var chat struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal(p.post(t, "/chat/sessions", []byte(`{"permission_mode":"`+mode+`"}`)), &chat); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{"prompt": prompt})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.http+"/chat/sessions/"+chat.ID+"/turns", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = p.bearer(http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}})
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	events := map[string][]map[string]any{}
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Payload map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		events[e.Type] = append(events[e.Type], e.Payload)
	}
	return events
}

// scene is what every agent is asked to do: count how often the key is found
// wherever a process can look, and list the networks. The pattern does not match
// itself.
const scene = `when step 1
  say I look.
  call %TOOL% {"command":"(env; cat /proc/*/environ /proc/*/cmdline; find / -xdev -path /usr -prune -o -path /proc -prune -o -path /sys -prune -o -type f -size -1000k -print0 | xargs -0 cat) 2>/dev/null | grep -a -c 'sk-test[-]0123456789' > seen.txt; sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' ' > nets.txt; echo looked"}
else
  say I looked.
`

// The key is nowhere in the sandbox, and the model server gets it, although there
// is no network but the sandbox's own: with our own loop over both SDKs, and with
// the real Claude Code and Codex behind the way out.
func TestTheKeyStaysOutOfTheSandbox(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		engine, provider, url, tool, field, header string
	}{
		"native on anthropic": {"native", "anthropic", "", "bash", "command", "X-Api-Key"},
		"native on openai":    {"native", "openai", "/v1", "bash", "command", "Authorization"},
		"claude":              {"claude:" + agenttest.Claude, "anthropic", "", "Bash", "command", "X-Api-Key"},
		"codex":               {"codex:" + agenttest.Codex, "openai", "", "exec_command", "cmd", "Authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if engine, program, ok := strings.Cut(c.engine, ":"); ok {
				c.engine = engine + ":" + agenttest.Installed(t, program)
			}
			models := modeltest.Serve(t, strings.NewReplacer("%TOOL%", c.tool, `"command"`, `"`+c.field+`"`).Replace(scene))
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(file, []byte(modelKey), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, "--engine", c.engine, "--model", c.provider, "--key", c.provider+"=file:"+file, "--model-url", c.provider+"="+models.URL+c.url, "--cwd", dir)
			events := p.turns(t, "Look for the key.", "full_auto")
			if end := events["turn_end"]; len(end) != 1 || end[0]["status"] != "completed" {
				t.Fatalf("%v %v\n%s", end, events["error"], p.errors())
			}
			if text, err := os.ReadFile(filepath.Join(dir, "seen.txt")); err != nil || string(text) != "0\n" {
				t.Errorf("the command counted %q, %v: %v", text, err, events["tool_outcome"])
			}
			notice := events["sandbox_notice"]
			if len(notice) == 0 {
				t.Fatal("nobody says what the sandbox is")
			}
			own := notice[0]["resolved_backend"] == "bwrap" // landlock forbids what it cannot hide
			if text, err := os.ReadFile(filepath.Join(dir, "nets.txt")); err != nil || own && string(text) != "lo\n" {
				t.Errorf("the networks there are %q, %v", text, err)
			}
			all, err := json.Marshal(events)
			if err != nil || strings.Contains(string(all), modelKey) {
				t.Errorf("the key was seen in %s %v", all, err)
			}
			if kind, _ := split(c.engine); kind != "native" && !strings.Contains(string(all), kind+"'s own sandbox is off: this one is around it") {
				t.Errorf("nobody says that the program's own sandbox is off: %v", events["sandbox_notice"])
			}
			got := false
			for _, r := range models.All() {
				got = got || strings.HasSuffix(r.Header.Get(c.header), modelKey)
			}
			if !got {
				t.Error("the model server did not get the key")
			}
		})
	}
}

// What runs for a session is shown while it runs, and only then.
func TestTheProcessesOfASessionAreShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, "--engine", "native", "--model", "offline", "--pace", "0s", "--cwd", dir)
	var chat struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal(p.post(t, "/chat/sessions", []byte(`{"permission_mode":"full_auto"}`)), &chat); err != nil {
		t.Fatal(err)
	}
	p.post(t, "/chat/sessions/"+chat.ID+"/turns", []byte("{\"prompt\":\"run `mkfifo f; echo here > here; read x < f`\"}"))
	until(t, "the command to run", func() bool { _, err := os.Stat(filepath.Join(dir, "here")); return err == nil })
	list := func() (all []struct {
		Role string
		PID  int `json:"pid"`
	}) {
		_, body := p.get("/sessions/"+chat.ID+"/processes", nil)
		var answer struct{ Processes json.RawMessage }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer.Processes, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	found := list()
	if len(found) != 1 || found[0].Role != "agent" {
		t.Fatalf("%+v", found)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(found[0].PID))); err != nil {
		t.Error(err)
	}
	p.post(t, "/sessions/"+chat.ID+"/cancel", nil)
	until(t, "no process of the session", func() bool { return len(list()) == 0 })
}
