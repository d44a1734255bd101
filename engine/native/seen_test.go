package native_test

import (
	"strings"
	"testing"

	"harness"
)

// An edit that is allowed after a restart is made exactly if the file is as it
// was read before it.
func TestAnEditAllowedAfterARestartNeedsTheFileAsItWasRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change string // what the file becomes while nobody runs; empty is nothing
		wrote  bool   // the model wrote it, and did not read it
		want   string
		error  string
	}{
		"as it was read":    {want: "two\n"},
		"as it was written": {wrote: true, want: "two\n"},
		"changed":           {change: "one, and more\n", want: "one, and more\n", error: "a.txt has changed since it was read; read it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := `call read {"path":"a.txt"}`
			if c.wrote {
				first = `call write {"path":"a.txt","content":"one\n"}`
			}
			r := newRig(t, "chat", "when step 1\n  "+first+"\nwhen step 2\n  call edit id=change {\"path\":\"a.txt\",\"old_string\":\"one\",\"new_string\":\"two\"}\nelse\n  say Done.", nil)
			if !c.wrote {
				r.write("a.txt", "one\n")
			}
			r.configure(harness.Normal)
			r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("change it")})
			if c.wrote {
				r.answer(harness.Allow, "")
			}
			r.until("a question", func(st *harness.State) bool { return len(st.Pending) > 0 && st.Pending[0].Call == "change" })
			r.restart()
			if c.change != "" {
				r.write("a.txt", c.change)
			}
			r.answer(harness.Allow, "")
			r.rest()
			if got := r.file("a.txt"); got != c.want || r.said() != "Done." {
				t.Errorf("the file has %q, want %q\n%s", got, c.want, r.story())
			}
			outcomes := all[*harness.ToolOutcome](r)
			if last := outcomes[len(outcomes)-1]; (last.Status == harness.OutcomeOK) != (c.error == "") || !strings.Contains(last.Error, c.error) {
				t.Errorf("outcome %+v", last)
			}
		})
	}
}

// What a turn before a restart has read may be changed in one after it, and what
// nobody has read may not.
func TestATurnAfterARestartKnowsWhatWasRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when user "look" and step 1
  call read {"path":"a.txt"}
when user "change" and step 1
  call edit id=known {"path":"a.txt","old_string":"one","new_string":"two"}
  call edit id=unknown {"path":"b.txt","old_string":"one","new_string":"two"}
else
  say Done.
`, nil)
	r.write("a.txt", "one\n")
	r.write("b.txt", "one\n")
	r.prompt("look")
	r.restart()
	r.prompt("change")
	got := map[harness.CallID]string{}
	for _, o := range all[*harness.ToolOutcome](r) {
		got[o.ToolCallID] = o.Status + " " + o.Error
	}
	if got["known"] != "ok " || got["unknown"] != "error b.txt was not read in this session; read it first" {
		t.Errorf("outcomes %q\n%s", got, r.story())
	}
}
