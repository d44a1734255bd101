package transcript_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"harness/engine/agenttest"
	"harness/model/modeltest"
)

// recording is how a transcript of a real program is made: by hand, as people
// do, with a model that follows a script.
type recording struct {
	name    string // of the reader and of the file
	program string // as agenttest names it
	model   string
	env     func(home, url string) []string
	runs    func(url string) [][]string
	found   string // below the home
}

var recordings = []recording{
	{
		name: "claude", program: agenttest.Claude,
		model: `
when user "summary of the conversation"
  say <summary>They looked around.</summary>
when user "what is left"
  say Nothing is left.
when user "both" and step 1
  call Bash {"command":"echo one","description":"one"}
  call Bash {"command":"echo two","description":"two"}
when step 1 and user "look"
  think Let me see.
  say I will look.
  call Bash {"command":"echo made > made.txt; cat made.txt","description":"look"}
when step 2 and user "look"
  call Bash {"command":"exit 3","description":"fail"}
else
  say It says made.
  usage in=10 out=7`,
		env: func(home, url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CONFIG_DIR=" + home + "/.claude"}
		},
		runs: func(string) [][]string {
			return [][]string{
				{"-p", "look around", "--allowedTools", "Bash"}, {"-p", "--continue", "what is left?"}, {"-p", "--continue", "do both", "--allowedTools", "Bash"},
				{"-p", "--continue", "/compact"}, {"-p", "--continue", "what is left now?"},
			}
		},
		found: ".claude/projects/*/*.jsonl",
	},
	{
		name: "codex", program: agenttest.Codex,
		model: `
when user "what is left"
  say Nothing is left.
when step 1
  think Let me see.
  say I will look.
  call exec_command {"cmd":"echo made > made.txt; cat made.txt","yield_time_ms":5000}
when step 2
  call exec_command {"cmd":"exit 3","yield_time_ms":5000}
else
  say It says made.
  usage in=10 out=7`,
		env: func(home, _ string) []string { return []string{"CODEX_HOME=" + home} },
		runs: func(url string) [][]string {
			args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
			for _, c := range []string{
				`model="mock-model"`, `chatgpt_base_url="http://127.0.0.1:9/backend-api/"`, `model_provider="scripted"`, "features.plugins=false", "features.apps=false",
				"check_for_update_on_startup=false", "analytics.enabled=false",
				`model_providers.scripted={name="scripted",base_url="` + url + `/v1",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
			} {
				args = append(args, "-c", c)
			}
			return [][]string{append(args[:len(args):len(args)], "look around"), append(args[:len(args):len(args)], "resume", "--last", "what is left?")}
		},
		found: "sessions/*/*/*/*.jsonl",
	},
}

// record runs the real program and returns what it wrote down.
func (r recording) record(t *testing.T) []byte {
	t.Helper()
	m, home, work := modeltest.Serve(t, r.model), t.TempDir(), t.TempDir()
	bin := agenttest.Installed(t, r.program)
	for _, args := range r.runs(m.URL) {
		cmd := exec.Command(bin, args...)
		cmd.Dir = work
		cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home}, r.env(home, m.URL)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", r.name, args, err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(home, r.found))
	if err != nil || len(files) != 1 {
		t.Fatalf("it wrote %q, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte(work), []byte("/home/ada/project")), []byte(home), []byte("/home/ada"))
}

// short is a transcript without what nobody wants to read.
func short(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		var v any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(shortened(v)); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func shortened(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 240 {
			return v[:100] + "…"
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
		if len(v) > 8 {
			return v[:8]
		}
	case map[string]any:
		for k := range v {
			v[k] = shortened(v[k])
		}
		for _, heavy := range []string{"rendered", "shape", "params", "cacheControl", "attachment", "state", "rate_limits"} {
			if _, ok := v[heavy]; ok {
				v[heavy] = nil
			}
		}
	}
	return v
}
