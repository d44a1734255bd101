package main

import (
	"strings"
	"testing"
)

// outcomes is a turn whose calls end in every way.
const outcomes = `
when user "same names" and step 1
  call bash id=first {"command":"echo one"}
  call bash id=second {"command":"echo two"}
when user "success" and step 1
  call bash id=c {"command":"echo fine"}
when user "timeout" and step 1
  call bash id=c {"command":"echo begun; sleep 600","timeout_seconds":1}
when user "denial" and step 1
  call bash id=c {"command":"echo never > never.txt"}
when user "artifact" and step 1
  call bash id=c {"command":"seq 1 20000"}
when user "failure" and step 1
  call bash id=c {"command":"echo wrong; exit 3"}
when user "nearly full"
  usage in=150000 out=10
  say I am nearly full.
when user "about to be shortened"
  say They said that they are nearly full.
else
  say Done.
`

// The acceptance criteria of S3 about tools and context, over HTTP.
func TestAcceptanceOfToolsOverHTTP(t *testing.T) {
	t.Parallel()
	s := startNative(t, outcomes)

	t.Run("duplicate tool names resolve by tool_call_id", func(t *testing.T) {
		t.Parallel()
		all := s.say(t, s.chat(t, "full_auto"), "same names", "")
		for id, want := range map[string]string{"first": "one", "second": "two"} {
			calls, results, ends := 0, "", ""
			for _, e := range all {
				if e.id("tool_call_id") != id {
					continue
				}
				switch e.Type {
				case "tool_call":
					calls++
				case "tool_result":
					results += strings.TrimSpace(e.id("output"))
				case "tool_outcome":
					ends += e.id("status")
				}
			}
			if calls != 1 || results != want || ends != "ok" {
				t.Errorf("%s: %d calls, result %q, ended %q", id, calls, results, ends)
			}
		}
	})
	for _, c := range []struct{ name, mode, decision, status, kind, detail string }{
		{"success", "full_auto", "", "ok", "ToolExecutionResult", "fine"},
		{"timeout", "full_auto", "", "timeout", "ToolTimeout", "begun"},
		{"denial", "normal", "deny", "denied", "ToolDenied", ""},
		{"artifact", "full_auto", "", "artifact", "ToolArtifactReference", "20000"},
		{"failure", "full_auto", "", "error", "ToolFailure", "wrong"},
	} {
		t.Run("tool_outcome for "+c.name, func(t *testing.T) {
			t.Parallel()
			id := s.chat(t, c.mode)
			streamed := s.say(t, id, c.name, c.decision)
			for where, all := range map[string][]event{"streamed": streamed, "persisted": s.log(t, id)} {
				o := only(t, all, "tool_outcome")
				if o.id("tool_call_id") != "c" || o.id("status") != c.status || o.id("outcome_type") != c.kind {
					t.Errorf("%s: %v", where, o.Payload)
				}
				shown, _ := o.Payload["result"].(string) // of a call that failed, as far as it came
				for _, r := range of(all, "tool_result") {
					shown += r.id("output")
				}
				if !strings.Contains(shown, c.detail) {
					t.Errorf("%s: shown %q", where, shown)
				}
				if end := only(t, all, "turn_end"); end.id("status") != "completed" {
					t.Errorf("%s: the turn did not go on: %v", where, end.Payload)
				}
			}
			if c.status == "artifact" {
				a := only(t, streamed, "artifact")
				status, body := s.get("/artifacts/"+a.id("artifact_id"), nil)
				if status != 200 || !strings.HasPrefix(body, "1\n2\n") || !strings.Contains(body, "\n12345\n") {
					t.Errorf("artifact: %d, %d bytes", status, len(body))
				}
			}
		})
	}
	t.Run("warnings and compactions are persisted and streamed", func(t *testing.T) {
		t.Parallel()
		id := s.chat(t, "full_auto")
		streamed := s.say(t, id, "nearly full, are you?", "")
		streamed = append(streamed, s.say(t, id, "and now?", "")...)
		streamed = append(streamed, s.say(t, id, "/compact", "")...)
		for where, all := range map[string][]event{"streamed": streamed, "persisted": s.log(t, id)} {
			warnings := of(all, "context_warning")
			if len(warnings) == 0 || warnings[0].Payload["limit_tokens"] != 200000.0 || warnings[0].Payload["pct"].(float64) < 70 {
				t.Errorf("%s: warnings %v", where, warnings)
			}
			if c := only(t, all, "context_compacted"); !strings.Contains(c.id("summary"), "nearly full") || !strings.HasPrefix(c.id("resume_cursor"), "compact:"+id) {
				t.Errorf("%s: %v", where, c.Payload)
			}
		}
		if all := of(s.log(t, id), "user_message"); len(all) != 3 {
			t.Errorf("history was deleted: %v", all)
		}
	})
}
