package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/model/modeltest"
)

// plainRequests are what people type, what is in the workspace afterwards, and
// what the last words have in them. A file with the content "-" is gone.
var plainRequests = []struct {
	prompt string
	files  map[string]string
	says   string
}{
	{"write `echo hi-$((40+2))` to hello.sh, then run `sh hello.sh`, then tell me what it printed", map[string]string{"hello.sh": "echo hi-$((40+2))\n"}, "hi-42"},
	{"Create a script called hello.sh that prints hi-42. Run it and show me the output.", map[string]string{"hello.sh": "echo hi-42\n"}, "hi-42"},
	{"make a file todo.md with the text \"buy milk\" and then read it back", map[string]string{"todo.md": "buy milk\n"}, "buy milk"},
	{"Please put 'hello world' in greeting.txt", map[string]string{"greeting.txt": "hello world\n"}, "greeting.txt"},
	{"I need a file named config.json with the content `{\"debug\": true}`, please", map[string]string{"config.json": "{\"debug\": true}\n"}, "config.json"},
	{"save the output of `sort names.txt` to sorted.txt and show it", map[string]string{"sorted.txt": "ada\nbob\ncyd\n"}, "ada"},
	{"fix the typo \"teh\" in notes.txt: it should be \"the\"", map[string]string{"notes.txt": "# Notes\nthe fox and the dog\n"}, "edited"},
	{"replace every fox with cat in notes.txt, then show me the last line of notes.txt", map[string]string{"notes.txt": "# Notes\nteh cat and teh dog\n"}, "teh cat"},
	{"add a line \"dan\" to names.txt and count its lines", map[string]string{"names.txt": "cyd\nada\nbob\ndan\n"}, "4"},
	{"search for TODO in src", nil, "src/main.go"},
	{"Which files contain \"TODO\"?", nil, "src/main.go"},
	{"list the files", nil, "names.txt"},
	{"how many lines are in names.txt?", nil, "3"},
	{"How many txt files are there?", nil, "2"},
	{"read notes.txt and summarise it", nil, "2 lines"},
	{"run the tests and tell me if they pass", nil, "all is well"},
	{"delete names.txt using rm, after that list the files", map[string]string{"names.txt": "-"}, "notes.txt"},
	{"copy notes.txt to backup/notes.txt", nil, "failed"},
	{"mkdir backup, then copy notes.txt to backup/notes.txt and then rename names.txt to people.txt", map[string]string{"backup/notes.txt": "# Notes\nteh fox and teh dog\n", "people.txt": "cyd\nada\nbob\n", "names.txt": "-"}, "mv"},
	{"1. write 'a' to a.txt\n2. append 'b' to a.txt\n3. show me a.txt", map[string]string{"a.txt": "a\nb\n"}, "b"},
	{"does names.txt contain zoe?", nil, "no: it is not in names.txt"},
	{"`printf 'a b' | wc -w`", nil, "2"},
	{"delegate to a subagent: write 'from below' to below.txt", map[string]string{"below.txt": "from below\n"}, "I wrote `below.txt`"}, // what came back is the last that is said
	{"compose a sonnet about invoices", nil, "not a language model"},
}

// On a machine without keys, plain requests are done: the files are as they were
// asked to be.
func TestPlainRequestsAreDoneWithoutAKey(t *testing.T) {
	t.Parallel()
	for _, c := range plainRequests {
		t.Run(c.prompt, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"notes.txt": "# Notes\nteh fox and teh dog\n", "names.txt": "cyd\nada\nbob\n", "src/main.go": "package main\n\n// TODO: everything\n", "Makefile": "test:\n\t@echo all is well\n",
			} {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := finish(t, invocation(t, "run", "--cwd", dir, "--pace", "0s", "--approve", "all", c.prompt))
			last := o.stdout[strings.LastIndex(o.stdout, "\n\nI ")+1:] // the last words; one that only talks has no others
			if o.code != 0 || !strings.Contains(last, c.says) || o.stderr != "" {
				t.Errorf("exit code %d, want %q in\n%s%s", o.code, c.says, last, o.stderr)
			}
			for name, want := range c.files {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if want == "-" && os.IsNotExist(err) {
					continue
				}
				if string(got) != want {
					t.Errorf("%s is %q, want %q (%v)\n%s", name, got, want, err, o.stdout)
				}
			}
		})
	}
}

// The same request by way of the real SDKs.
func TestAPlainRequestIsDoneThroughTheSDKs(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"anthropic", "openai", "chat"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			models := modeltest.Serve(t, `
when step 1
  say I write it.
  call write {"path":"hello.sh","content":"echo hi-$((40+2))\n"}
when step 2
  call bash {"command":"sh hello.sh"}
when result "hi-42"
  say It printed hi-42.
`)
			dir := t.TempDir()
			o := finish(t, invocation(t, append(append([]string{"run"}, scripted(t, models, provider, "x")...), "--cwd", dir, "--approve", "all", plainRequests[0].prompt)...))
			if o.code != 0 || !strings.HasSuffix(o.stdout, "It printed hi-42.\n") {
				t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "hello.sh")); string(text) != "echo hi-$((40+2))\n" {
				t.Errorf("hello.sh is %q, %v", text, err)
			}
			asked := models.Requests()
			if len(asked) != 3 || asked[0].Model != "x" || !strings.Contains(strings.Join(asked[0].Said, ""), "then tell me what it printed") {
				t.Errorf("asked %d times: %+v", len(asked), asked)
			}
		})
	}
}

// A compaction by the offline model keeps what was asked, done and found.
func TestCompactWithoutAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &nativeServer{dir: dir, process: start(t, "--pace", "0s", "--cwd", dir)}
	id := s.chat(t, "full_auto")
	s.say(t, id, "write 'blue' to colour.txt", "")
	s.say(t, id, "run `echo found-$((40+2))`", "")
	for _, filler := range []string{"say one", "say two", "say three", "say four"} {
		s.say(t, id, filler, "")
	}
	all := s.say(t, id, "/compact", "")
	summary := only(t, all, "context_compacted").id("summary")
	for _, want := range []string{"write 'blue' to colour.txt", "colour.txt", "found-42"} {
		if !strings.Contains(summary, want) {
			t.Errorf("%q is missing from the summary\n%s", want, summary)
		}
	}
	if strings.Contains(summary, "about to be shortened") {
		t.Errorf("the summary has the request for it\n%s", summary)
	}
	if got := only(t, s.say(t, id, "read colour.txt", ""), "completed").id("result"); !strings.Contains(got, "blue") {
		t.Errorf("afterwards it says %q", got)
	}
}
