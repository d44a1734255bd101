package script_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"harness"
	"harness/engine/script"
)

func TestParseErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{"say a\nsay", "line 2: say: a text must follow"},
		{"\n# no\nsing a", `line 3: unknown command "sing"`},
		{`say "a`, "line 1: say: the quoted text"},
		{"echo me", "nothing may follow"},
		{"wait soon", "invalid duration"},
		{"wait -1s", "cannot be negative"},
		{"pace", "invalid duration"},
		{"stream x 1s a", "not a number"},
		{"stream 1 1s", "a text must follow"},
		{"tool", "a name must follow"},
		{"tool bash {", "JSON"},
		{"tool bash {} more\noutcome ok", "may not follow"},
		{"tool bash ../x {}\noutcome ok", "call id"},
		{"call bash {}", "want =>"},
		{"ask bash {} access=all", `unknown access "all"`},
		{"ask bash {} because", "want a quoted text"},
		{"result a", "no call is open here"},
		{"tool bash\noutcome fine", `unknown outcome "fine"`},
		{"tool bash\nsay a", "line 2: the call of bash in line 1 is still open"},
		{"tool bash\nwhen a\noutcome ok\nend\noutcome ok", "line 3: outcome: the call was opened outside this block"},
		{"repeat 2\ntool bash\nend\noutcome ok", "line 3: the call of bash in line 2 is still open"},
		{"ask bash\n  tool ls\nsay a", "line 3: the call of ls in line 2 is still open"},
		{"repeat 2\ntool bash c1\noutcome ok\nend", "line 2: tool: a call inside repeat"},
		{"repeat -1\nend", "not a number"},
		{"repeat 2\nsay a", "the repeat of line 1 has no end"},
		{"repeat 2\nsay a\n=== two\nsay b", "line 3: the repeat of line 1 has no end"},
		{"repeat 2\n  ask bash\n    end", "line 3: end: is indented into the ask of line 2"},
		{"end", "no block is open"},
		{"else", "no when is open"},
		{"when a\nelse\nelse\nend", "line 3: else: no when is open"},
		{"when a\nelse if b\nend", `want when or nothing, have "if"`},
		{"when\nend", "a word must follow"},
		{"when a-b\nend", "is not a word"},
		{"usage 1", "want IN OUT"},
		{"usage 1 2 free", "is not a price"},
		{"step 1 Look done", "not a number"},
		{"step 1/2", "a name must follow"},
		{"gate", "a name must follow"},
		{"emit nothing {}", `the inventory has no "nothing"`},
		{"emit token", "want TYPE and a JSON object"},
		{`emit token {"txt":"a"}`, "unknown field"},
		{strings.Repeat("repeat 1\n", 9), "line 9: more than 8 blocks"},
	} {
		_, err := script.Parse(c.src)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q)\n got %v\nwant an error with %q", c.src, err, c.want)
		}
	}
}

// everything uses every command in every form.
const everything = `# a comment
pace 20ms
say   plain text # is text
say "quoted\ntext "
type word by word
stream 3 10ms tick
echo
think ` + "`a \\ b`" + `
reflect so
response
response the end
call read {"path": "a"} => text
call read c1 => "more\n"
tool bash c2 {"command":"ls"}
log a
result a
outcome ok 84ms {"chunks":[]}
tool bash
outcome timeout 1m
ask bash
ask edit c3 {} access=edit reason="it writes" "Change a" => done
ask bash {} "Run"
  log a
  repeat 2
    wait 1s
  end
  outcome error 5ms it broke
  say oh
steer
listen
steer "yes: "
listen ok
wait 1.5s
gate first
usage 10 20 0.5
usage 10 20
step 1/3 Look around running
step 2/3 "Look \"again\"" done
emit session_checkpoint {"session_id":"s","sequence":1,"checkpoint_type":"turn","status":"ok","summary_text":"","resume_cursor":null}
checkpoint
repeat 2
  when one two
    retry later
  else when three
    hang
  else
    say other
  end
end
===
=== last  turn
fail in the end
`

func TestPrintedScriptParsesToItself(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{"everything": everything, "empty": "", "demo": script.Demo().String(), "situations": situations} {
		s, err := script.Parse(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := script.Parse(s.String())
		if err != nil {
			t.Fatalf("%s: its printed form: %v\n%s", name, err, s)
		}
		if again.String() != s.String() {
			t.Errorf("%s: printed twice\n%s\nprinted once\n%s", name, again, s)
		}
	}
}

func TestThePackageCommentExplainsEveryCommand(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range script.Verbs() {
		if !regexp.MustCompile(`(?m)^//\t` + verb + `\b`).Match(doc) {
			t.Errorf("doc.go does not explain %s", verb)
		}
		if !regexp.MustCompile(`(?m)^ *` + verb + `\b`).MatchString(everything) {
			t.Errorf("the script in this test does not use %s", verb)
		}
	}
}

func TestTheExampleInThePackageCommentParses(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "// For example:\n//\n")
	example, _, _ := strings.Cut(rest, "//\n")
	s, err := script.Parse(strings.ReplaceAll(example, "//\t", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(s.String(), "\n"); got != 14 {
		t.Errorf("the example has %d lines:\n%s", got, s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add(situations)
	f.Add(script.Demo().String())
	f.Add("ask a\n\tsay b\n \tend")
	f.Fuzz(func(t *testing.T, src string) {
		s, err := script.Parse(src)
		if err != nil {
			return
		}
		again, err := script.Parse(s.String())
		if err != nil {
			t.Fatalf("%q parses, but its printed form does not: %v\n%s", src, err, s)
		}
		if again.String() != s.String() {
			t.Fatalf("printed twice\n%q\nprinted once\n%q", again, s)
		}
	})
}

// The inventory's words are the script's: every kind can be emitted.
func TestEmitKnowsEveryKind(t *testing.T) {
	t.Parallel()
	for _, info := range harness.Inventory() {
		if _, err := script.Parse("emit " + string(info.Type) + " {}"); err != nil {
			t.Errorf("emit %s: %v", info.Type, err)
		}
	}
}
