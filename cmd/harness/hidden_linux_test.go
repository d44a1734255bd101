package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/agenttest"
	"harness/model/modeltest"
	"harness/sandbox/bwrap"
	"harness/sandbox/landlock"
)

// mark is in a thread's log, and for no agent to be read there.
const mark = "canary-4711"

// kept makes a directory with a thread in its .harness, and returns what the
// thread's log says and who it is.
func kept(t *testing.T) (dir, log, text string) {
	t.Helper()
	if _, err := bwrap.New(nil).Probe(t.Context()); err != nil {
		mustHave(t, "bubblewrap does not work here: "+err.Error())
	}
	dir = t.TempDir()
	if o := finish(t, running(t, dir, "keep "+mark)); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	logs, err := filepath.Glob(filepath.Join(dir, ".harness/threads/*/events.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%q, %v", logs, err)
	}
	b, err := os.ReadFile(logs[0])
	if err != nil || !strings.Contains(string(b), mark) {
		t.Fatalf("%s, %v", b, err)
	}
	return dir, logs[0], string(b)
}

// An agent whose commands run in namespaces neither sees the sessions and rules
// of its workspace nor changes them, also if everything is allowed.
func TestWhatIsOursIsHiddenFromCommands(t *testing.T) {
	t.Parallel()
	dir, log, was := kept(t)
	const attack = "cat .harness/threads/*/events.jsonl; grep -r canary . ; ls -A .harness; echo x > .harness/rules.jsonl; echo x >> " +
		".harness/threads/*/events.jsonl; rm -rf .harness; mv .harness gone; ln -sfn /tmp .harness; mkdir -p .harness/memory/x; touch made"
	o := invoke(t, "run", "--cwd", dir, "--engine", "native", "--model", "offline", "--pace", "0s", "--approve", "all", "--sandbox", "required:bwrap", "run `"+attack+"`")
	if o.code != 0 || strings.Contains(o.stdout, mark) {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Errorf("the command was not run: %v\n%s", err, o.stdout)
	}
	if b, err := os.ReadFile(log); string(b) != was {
		t.Errorf("the log was changed: %v\n%s", err, b)
	}
	for _, name := range []string{".harness/rules.jsonl", ".harness/memory/x", "gone"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, ".harness")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

// The tools that read and write without a process see as little; skills are
// there, and only to be read.
func TestWhatIsOursIsHiddenFromTools(t *testing.T) {
	t.Parallel()
	dir, log, was := kept(t)
	rel, err := filepath.Rel(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "notes.md"), "the canary-note sings\n")
	write(t, filepath.Join(dir, ".harness/skills/sing/SKILL.md"), "---\nname: sing\ndescription: how birds sing\n---\nSing softly.\n")
	for name, fence := range map[string]string{"bwrap": "required:bwrap", "landlock": "required:landlock", "local": "local"} {
		t.Run(name, func(t *testing.T) {
			if _, err := landlock.New(&landlock.Options{Shim: binary}).Probe(t.Context()); name == "landlock" && err != nil {
				mustHave(t, err.Error())
			}
			models := modeltest.Serve(t, `
when step 1
  call read {"path":"`+rel+`"}
  call grep {"pattern":"canary-[0-9n]"}
  call grep {"pattern":"canary-[0-9]","path":".harness"}
  call glob {"pattern":"**/*.jsonl"}
  call glob {"pattern":".harness/**"}
  call local_search {"query":"canary"}
  call write {"path":".harness/rules.jsonl","content":"x"}
  call read {"path":".harness/skills/sing/SKILL.md"}
when step 2
  call write {"path":".harness/skills/sing/SKILL.md","content":"Sing loudly."}
else
  say Done.`)
			key := filepath.Join(t.TempDir(), "key")
			write(t, key, modelKey)
			o := invoke(t, "run", "--cwd", dir, "--engine", "native", "--model", "anthropic", "--key", "anthropic=file:"+key, "--model-url", "anthropic="+models.URL, "--approve", "all", "--sandbox", fence, "look around")
			if o.code != 0 {
				t.Fatalf("%+v", o)
			}
			requests := models.All()
			told := string(requests[len(requests)-1].Body)
			if strings.Contains(told, mark) {
				t.Errorf("the model was told\n%s", told)
			}
			for _, want := range []string{"canary-note sings", "how birds sing", "Sing softly."} {
				if !strings.Contains(told, want) {
					t.Errorf("the model was not told %q:\n%s", want, told)
				}
			}
			if b, err := os.ReadFile(log); string(b) != was {
				t.Errorf("the log was changed: %v\n%s", err, b)
			}
			if b, err := os.ReadFile(filepath.Join(dir, ".harness/rules.jsonl")); err == nil {
				t.Errorf("rules were written: %s", b)
			}
			if b, err := os.ReadFile(filepath.Join(dir, ".harness/skills/sing/SKILL.md")); !strings.HasSuffix(string(b), "Sing softly.\n") {
				t.Errorf("a skill was written: %q, %v", b, err)
			}
			// Where processes are not held, the notice says so.
			const words = "what is hidden of the workspace is neither seen nor changed"
			if notice := noticeIn(t, dir); strings.Contains(notice, words) == (name == "bwrap") {
				t.Errorf("the notice is %s", notice)
			}
			if err := os.RemoveAll(filepath.Join(dir, ".harness/threads")); err != nil { // for the next notice
				t.Fatal(err)
			}
			write(t, log, was)
		})
	}
}

// Claude Code keeps its conversations where we keep ours. It finds its own again
// in the next process, and sees no other's.
func TestAnAgentsOwnMemoryIsAllThatIsShownOfOurs(t *testing.T) {
	t.Parallel()
	program := agenttest.Installed(t, agenttest.Claude)
	dir, log, was := kept(t)
	models := modeltest.Serve(t, `
when user "again"
  say Back.
when step 1
  call Bash {"command":"(ls -A .harness; ls -A .harness/agents/claude; cat .harness/threads/*/*; echo x >.harness/x; touch .harness/agents/claude/x; touch $HOME/mine && echo kept) > seen.txt 2>/dev/null"}
else
  say Looked.`)
	key := filepath.Join(t.TempDir(), "key")
	write(t, key, modelKey)
	write(t, filepath.Join(dir, ".harness/agents/claude/ses_other/x"), mark)
	args := []string{"run", "--cwd", dir, "--engine", "claude:" + program, "--model", "anthropic", "--key", "anthropic=file:" + key, "--model-url", "anthropic=" + models.URL, "--approve", "all", "--sandbox", "required:bwrap"}
	if o := invoke(t, append(args, "look")...); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	threads, err := filepath.Glob(filepath.Join(dir, ".harness/agents/claude/ses_*/mine"))
	if err != nil || len(threads) != 1 {
		t.Fatalf("%q, %v", threads, err)
	}
	thread := filepath.Base(filepath.Dir(threads[0]))
	if b, err := os.ReadFile(filepath.Join(dir, "seen.txt")); string(b) != "agents\n"+thread+"\nkept\n" {
		t.Errorf("seen was %q, %v", b, err)
	}
	if b, err := os.ReadFile(log); string(b) != was {
		t.Errorf("the log was changed: %v\n%s", err, b)
	}
	if o := invoke(t, append(args, "--thread", thread, "again")...); o.code != 0 || !strings.Contains(o.stdout, "Back.") {
		t.Errorf("%+v", o)
	}
	requests := models.All()
	if told := string(requests[len(requests)-1].Body); !strings.Contains(told, "Looked.") || strings.Contains(told, "conversation-so-far") {
		t.Errorf("it does not remember:\n%s", told)
	}
}

// Files are kept and taken back as ever, in the directory that processes see
// covered.
func TestAWorkspaceWithHiddenPartsIsRewound(t *testing.T) {
	t.Parallel()
	dir, log, was := kept(t)
	write(t, filepath.Join(dir, "notes.md"), "one\n")
	c := openLines(t, invocation(t, "stdio", "--cwd", dir, "--engine", "native", "--model", "offline", "--pace", "0s", "--sandbox", "required:bwrap"))
	c.do("version", "initialize", "")
	thread := c.do("thread.threadId", "thread.create", "")
	c.do("ok", "thread.configure", `"threadId":%q,"config":{"permissionMode":"fullAuto"}`, thread)
	item := c.do("itemId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"run `+"`echo two > notes.md; echo x > new.md`"+`"}]`, thread)
	if end := c.until("turn.completed"); end.Params.Status != "completed" {
		t.Fatalf("the turn ended as %q", end.Params.Status)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "notes.md")); string(b) != "two\n" {
		t.Fatalf("%q, %v", b, err)
	}
	c.do("ok", "thread.rewind", `"threadId":%q,"messageId":%q`, thread, item)
	if b, err := os.ReadFile(filepath.Join(dir, "notes.md")); string(b) != "one\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.md")); err == nil {
		t.Error("what the turn made is still there")
	}
	if b, err := os.ReadFile(log); string(b) != was {
		t.Errorf("the log was changed: %v\n%s", err, b)
	}
	if code := c.leave(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.errs.String())
	}
}
