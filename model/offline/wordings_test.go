package offline_test

import (
	"strings"
	"testing"
)

// TestPlainWordingsOfTheSameRequestAreDone runs what each wording asks for and
// looks at the file, the commands and the last words.
func TestPlainWordingsOfTheSameRequestAreDone(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"write `echo hi-$((40+2))` to hello.sh, then run `sh hello.sh`, then tell me what it printed",
		"Write `echo hi-$((40+2))` to hello.sh and run it and tell me what it printed.",
		"Please write `echo hi-$((40+2))` into the file hello.sh. Then run `sh hello.sh`. Tell me the output.",
		"create hello.sh with `echo hi-$((40+2))`, run it, and show me the output",
		"Create a file called hello.sh containing `echo hi-$((40+2))`; execute `sh hello.sh`; report what it printed",
		"Could you make a script named hello.sh that runs `echo hi-$((40+2))`, and then execute it? What does it print?",
		"1. write `echo hi-$((40+2))` to hello.sh\n2. run `sh hello.sh`\n3. tell me what it printed",
		"- put \"echo hi-$((40+2))\" in hello.sh\n- run sh hello.sh\n- what did it print?",
		"write this to hello.sh:\n```sh\necho hi-$((40+2))\n```\nthen run hello.sh and tell me what it says",
		"First, save 'echo hi-$((40+2))' as hello.sh; next, run the script; finally, let me know what it printed",
		"In hello.sh, write `echo hi-$((40+2))`. After that run the file.",
		"write hello.sh: `echo hi-$((40+2))`\nrun `sh hello.sh`",
		"I want you to write the line `echo hi-$((40+2))` to a new file named hello.sh, and then please run sh hello.sh, and give me the result",
		"write `echo hi-$((40+2))` to hello.sh && run `sh hello.sh` && tell me what it printed",
		"WRITE `echo hi-$((40+2))` TO hello.sh, THEN RUN `sh hello.sh`, THEN TELL ME WHAT IT PRINTED",
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, standard)
			last := w.turn(prompt)
			if got := w.file("hello.sh"); got != "echo hi-$((40+2))\n" {
				t.Errorf("hello.sh is %q", got)
			}
			if len(w.calls) != 2 || w.calls[0] != "write" || w.calls[1] != "bash" {
				t.Errorf("called %q", w.calls)
			}
			if !strings.Contains(last, "hi-42") {
				t.Errorf("said %q", last)
			}
		})
	}
}

func TestEachKindOfRequestCallsItsTool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, calls, says string }{
		{"run `echo one` and `echo two` in parallel", "bash bash", "two"},
		{"run `echo x` twice", "bash bash", "x"},
		{"run `echo x` 3 times", "bash", "x"},
		{"run `echo x; cd /; true` 40 times", "bash", "x"},
		{"read notes.txt", "read", "alpha"},
		{"read notes.txt and src/a.go", "read read", "package a"},
		{"what is in notes.txt?", "read", "alpha"},
		{"show me the contents of notes.txt", "read", "alpha"},
		{"search for alpha", "grep", "notes.txt"},
		{"search src for package", "grep", "a.go"},
		{"look for 'package a' in src", "grep", "a.go"},
		{"list the files", "glob", "notes.txt"},
		{"list the files in src", "glob", "a.go"},
		{"find *.go", "glob", "src/a.go"},
		{"write 'echo a' to a.sh and then run a.sh; what does it say?", "write bash", "I ran `sh a.sh`. It printed:\n\n```\na"},
		{"I would like a file n.txt that contains 1, 2 and 3. Then show it to me.", "write read", "1, 2 and 3"},
		{"create three files a.txt, b.txt and c.txt and list them", "write write write glob", "b.txt"},
		{"what does notes.txt contain?", "read", "alpha"},
		{"in notes.txt change alpha to omega and beta to psi, then show it", "edit edit read", "psi"},
		{"what's the output of `echo hi`?", "bash", "hi"},
		{"what does `echo hi` print?", "bash", "hi"},
		{"make hello.sh print hi, then run it", "write bash", "hi"},
		{"write \"a\" to x.txt, \"b\" to y.txt and 'c' to z.txt, then read z.txt", "write write write read", "c"},
		{"write `echo hi` to hello.sh. Run it. What was printed?", "write bash", "hi"},
		{"Using the shell, run: echo $((2+3))", "bash", "5"},
		{"overwrite notes.txt with hello and print it", "write read", "hello"},
		{"find all go files", "glob", "src/a.go"},
		{"show me every Go file", "glob", "src/a.go"},
		{"make a file h.sh with the content echo \"a  b\" and run it with sh", "write bash", "a  b"},
		{"Write the text hello to a.txt. Then read it back to me.", "write read", "hello"},
		{"echo hello into out.txt, then print out.txt", "write read", "hello"},
		{`replace "alpha" with "omega" in notes.txt, then read notes.txt`, "edit read", "omega"},
		{"edit notes.txt and change alpha to omega", "edit", "I edited"},
		{"append 'gamma' to notes.txt, then read it", "bash read", "gamma"},
		{"add a line \"gamma\" at the end of notes.txt and show it", "bash read", "gamma"},
		{"create a python script p.py that prints \"hi\" and run it", "write bash", "hi"},
		{"make a file todo.md with the text \"buy milk\" and double-check it", "write read", "buy milk"},
		{"I need a file named b.txt with the content \"b\", then count its lines", "write bash", "1"},
		{"fix the typo \"alpha\" in notes.txt: it should be \"omega\", then print it", "edit read", "omega"},
		{"correct alpha to omega in notes.txt and read it back", "edit read", "omega"},
		{"in notes.txt, alpha should be omega. Show me notes.txt", "edit read", "omega"},
		{"replace every alpha with omega in notes.txt and show it", "edit read", "omega"},
		{"save the output of `echo now` to now.txt and read it", "bash read", "now"},
		{"how many lines are in notes.txt?", "bash", "2"},
		{"how many go files are there?", "bash", "1"},
		{"count the files and tell me", "bash", "2"},
		{"read notes.txt and summarise it", "read", "2 lines and 2 words"},
		{"give me a summary of notes.txt", "read", "begins with “alpha”"},
		{"which files contain alpha?", "grep", "notes.txt"},
		{"use grep to find alpha", "grep", "notes.txt"},
		{"does notes.txt contain gamma?", "bash", "no: it is not in notes.txt"},
		{"is there a file called notes.txt?", "bash", "yes: notes.txt is there"},
		{"show me what is in this directory", "glob", "notes.txt"},
		{"show the last line of notes.txt", "bash", "beta"},
		{"which directory am I in?", "bash", "pwd"},
		{"what time is it?", "bash", "date"},
		{"run the tests", "bash", "no tests were found"},
		{"remove notes.txt using rm, then list the files", "bash glob", "src"},
		{"mkdir out, then write \"x\" to out/x.txt, after that read out/x.txt", "bash write read", "x"},
		{"append 'gamma' to notes.txt, then read notes.txt", "bash read", "gamma"},
		{"delete notes.txt", "bash", "It printed nothing"},
		{"copy notes.txt to b.txt and read b.txt", "bash read", "alpha"},
		{"create a directory sub", "bash", "I ran"},
		{"ask me which colour", "ask", "You answered: blue"},
		{"ask: which colour? then say thanks", "ask", "thanks"},
		{"delegate to a subagent: count the files", "task", "came back"},
		{"have a helper read notes.txt", "task", "came back"},
		{"plan: read, think, write", "todo", "I wrote down the plan."},
		{"remember that I like blue", "memory", "remember"},
		{"fetch https://example.test/a", "fetch", "fetched"},
		{"think about cats, then say hello", "", "hello"},
		{"count to 12", "", "10 11 12"},
		{"wait 0.01 seconds, then say awake", "bash", "awake"},
		{"`echo direct`", "bash", "direct"},
		{"echo bare", "bash", "bare"},
		{"run false", "bash", "failed"},
		{"run false, then tell me what it printed, then run `echo never`", "bash", "Not done: run `echo never`"},
		{"read missing.txt, then run `echo never`", "read", "Not done"},
		{"run `echo a`, then dance the tango, then run `echo never`", "bash", "I do not understand `dance the tango`"},
		{"dance the tango", "", "not a language model"},
		{"hello", "", "not a language model"},
		{"What can you do?", "", "not a language model"},
		{"What is the capital of France?", "", "not a language model"},
		{"make test, then tell me what it says", "bash", "make"},
		{"say the word", "", "the word"},
		{"create empty.txt, then run `wc -c < empty.txt`", "write bash", "0"},
		{"make a file called notes", "write", "I wrote"},
	} {
		t.Run(c.prompt, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, standard)
			last := w.turn(c.prompt)
			if got := strings.Join(w.calls, " "); got != c.calls || !strings.Contains(last, c.says) {
				t.Errorf("called %q, said %q", got, last)
			}
			if strings.Contains(last, "\nnever") {
				t.Error("it went on after it had to stop")
			}
		})
	}
}

// TestItDoesNotGuess gives it what sounds like a step and is not.
func TestItDoesNotGuess(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"write a poem to poem.txt", "write a letter to Bob", "create a website", "create a website with two pages", "remove the bug", "start the server", "try again", "tell me a joke",
		"look at the weather", "answer the question", "plan a party", "fix the bug in main.go", "fix the bug in main.go to make it work", "add tests to main.go", "add a test to main.go", "save the results to out.txt", "correct the grammar in notes.txt to be nicer", "explain main.go", "make me a sandwich", "go on", "delete everything", "move on to the next task",
		"refactor src/a.go", "", "...", "😀",
	} {
		w := newWorld(t, standard)
		if last := w.turn(prompt); len(w.calls) != 0 || !strings.Contains(last, "not a language model") {
			t.Errorf("%s: called %q %v, said %q", prompt, w.calls, w.args, last)
		}
	}
}
