package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"harness"
)

func TestEveryCommandIsUnderstood(t *testing.T) {
	t.Parallel()
	allow := harness.Decision{Verdict: harness.Allow, Scope: harness.Once, Source: harness.ByUser}
	deny := harness.Decision{Verdict: harness.Deny, Scope: harness.Once, Source: harness.ByUser}
	because := deny
	because.Reason = "not there"
	tried := map[string]bool{}
	for _, c := range []struct {
		kind, rest string
		want       request
	}{
		{"submit", `,"prompt":"hi"`, request{Cmd: submit("hi", harness.FromSubmit, "")}},
		{"submit", `,"prompt":"hi","commandId":"c1"`, request{ID: "c1", Cmd: submit("hi", harness.FromSubmit, "c1")}},
		{"submit", `,"prompt":"😀 \ud83d\ude00","extra":{"ignored":[1],"prompt":7}`, request{Cmd: submit("😀 😀", harness.FromSubmit, "")}},
		{"cancel", ``, request{Cmd: harness.Cancel{}}},
		{"cancel", `,"commandId":"é"`, request{ID: "é", Cmd: harness.Cancel{}}},
		{"steer", `,"message":"Use TypeScript instead"`, request{Cmd: harness.Steer{Parts: harness.TextPart("Use TypeScript instead")}}},
		{"steer", `,"message":"m","commandId":"k"`, request{ID: "k", Cmd: harness.Steer{Parts: harness.TextPart("m"), ClientKey: "k"}}},
		{"approve", `,"toolCallId":"toolu_1"`, request{Cmd: harness.Answer{Call: "toolu_1", Decision: allow}}},
		{"deny", `,"toolCallId":"call 1/é"`, request{Cmd: harness.Answer{Call: "call 1/é", Decision: deny}}},
		{"deny", `,"toolCallId":"c","reason":"not there"`, request{Cmd: harness.Answer{Call: "c", Decision: because}}},
		{"resume", `,"prompt":"on","sessionId":"ses_1"`, request{Session: "ses_1", Cmd: submit("on", harness.FromResume, "")}},
		{"configure", `,"config":{}`, request{Cmd: harness.Configure{}}},
		{
			"configure", `,"config":{"permissionMode":"acceptEdits","maxTurns":1e1,"model":"m","systemPrompt":"s","effort":"max"}`,
			request{Cmd: harness.Configure{Patch: harness.ConfigPatch{
				PermissionMode: new(harness.AcceptEdits), MaxTurns: new(10), Model: new("m"), SystemPrompt: new("s"), Effort: new(harness.EffortMax),
			}}},
		},
		{"configure", `,"config":{"permissionMode":"default"}`, request{Cmd: harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.Normal)}}}},
		{"configure", `,"config":{"permissionMode":"fullAuto","effort":"low"}`, request{Cmd: harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto), Effort: new(harness.EffortLow)}}}},
		{"rewind", `,"messageId":"itm_1"`, request{Cmd: harness.Rewind{Message: "itm_1"}}},
		{"rewind", `,"messageId":"itm_1","dryRun":true`, request{Cmd: harness.Rewind{Message: "itm_1", DryRun: true}}},
		{"rewind", `,"messageId":"itm_1","dryRun":false,"force":true,"commandId":"k"`, request{ID: "k", Cmd: harness.Rewind{Message: "itm_1", Force: true, ClientKey: "k"}}},
	} {
		tried[c.kind], c.want.Kind = true, c.kind
		got, err := decode(batch(fmt.Sprintf(`{"type":%q%s}`, c.kind, c.rest)))
		if err != nil || !reflect.DeepEqual(got, []request{c.want}) {
			t.Errorf("%s%s: got %+v, %v\n want %+v", c.kind, c.rest, got, err, c.want)
		}
	}
	for kind := range commands {
		if !tried[kind] {
			t.Errorf("%s was not tried", kind)
		}
	}
	if len(commands) != 8 {
		t.Errorf("%d commands, S1 has 8", len(commands))
	}
}

func submit(prompt string, from harness.Source, key string) harness.Submit {
	return harness.Submit{Parts: harness.TextPart(prompt), Source: from, OnBusy: harness.Enqueue, ClientKey: key}
}

func batch(commands ...string) []byte {
	return []byte(`{"type":"commands","commands":[` + strings.Join(commands, ",") + `]}`)
}

func TestCommandsOfABatchKeepTheirOrder(t *testing.T) {
	t.Parallel()
	got, err := decode(batch(`{"type":"cancel","commandId":"a"}`, `{"type":"submit","prompt":"x","commandId":"b"}`, `{"type":"cancel","commandId":"c"}`))
	if err != nil || len(got) != 3 || got[0].ID+got[1].ID+got[2].ID != "abc" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := decode(batch()); err != nil || len(got) != 0 {
		t.Errorf("an empty batch: got %+v, %v", got, err)
	}
}

// Every refusal names the place and what was expected there, and nothing of
// its message is carried out.
func TestMalformedMessagesAreRefusedPrecisely(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want, code, id string }{
		{``, "the message is not JSON: byte 0: unexpected end of JSON input", "invalid", ""},
		{`{"type":`, "the message is not JSON: byte 8: unexpected end of JSON input", "invalid", ""},
		{`hello`, "the message is not JSON: byte 1: invalid character 'h' looking for beginning of value", "invalid", ""},
		{`{} {}`, "the message is not JSON: byte 4: invalid character '{' after top-level value", "invalid", ""},
		{`[1]`, "the message: expected an object, got an array", "invalid", ""},
		{`null`, "the message: expected an object, got null", "invalid", ""},
		{` "x"`, "the message: expected an object, got a string", "invalid", ""},
		{`{}`, "type: missing, expected a string", "invalid", ""},
		{`{"type":1}`, "type: expected a string, got a number", "invalid", ""},
		{`{"type":"hello"}`, `type: unknown message type "hello"`, "invalid", ""},
		{`{"TYPE":"commands"}`, "type: missing, expected a string", "invalid", ""},
		{`{"type":"commands"}`, "commands: missing, expected an array", "invalid", ""},
		{`{"type":"commands","commands":{}}`, "commands: expected an array, got an object", "invalid", ""},
		{string(batch(strings.Repeat(`{"type":"cancel"},`, 64) + `{"type":"cancel"}`)), "commands: 65 commands, more than 64", "too_large", ""},
		{string(batch(`true`)), "commands[0]: expected an object, got a boolean", "invalid", ""},
		{string(batch(`{"type":"cancel"}`, `{}`)), "commands[1].type: missing, expected a string", "invalid", ""},
		{string(batch(`{"type":"jump","commandId":"x"}`)), `commands[0].type: unknown command "jump"`, "invalid", "x"},
		{string(batch(`{"type":"` + strings.Repeat("é", 50) + `"}`)), `commands[0].type: unknown command "… (100 bytes)"`, "invalid", ""},
		{string(batch(`{"type":"cancel"}`, `{"type":"cancel"}`, `{"type":"submit","prompt":4,"commandId":"c3"}`)), "commands[2].prompt: expected a string, got a number", "invalid", "c3"},
		{string(batch(`{"type":"submit","prompt":""}`)), "commands[0].prompt: must not be empty", "invalid", ""},
		{string(batch(`{"type":"submit","prompt":"` + strings.Repeat("x", harness.MaxPrompt+1) + `"}`)), "commands[0].prompt: has 524289 bytes, more than 524288", "too_large", ""},
		{string(batch(`{"type":"steer","message":""}`)), "commands[0].message: must not be empty", "invalid", ""},
		{string(batch(`{"type":"approve","toolCallId":""}`)), "commands[0].toolCallId: must not be empty", "invalid", ""},
		{string(batch(`{"type":"deny","toolCallId":"c","reason":"` + strings.Repeat("x", maxReason+1) + `"}`)), "commands[0].reason: has 16385 bytes, more than 16384", "too_large", ""},
		{string(batch(`{"type":"resume","prompt":"p","sessionId":"../x"}`)), "commands[0].sessionId: must be 1 to 128 characters and not start with a dot", "invalid", ""},
		{string(batch(`{"type":"resume","prompt":"p","sessionId":"a/b"}`)), "commands[0].sessionId: character '/' is not one of A-Za-z0-9._:-", "invalid", ""},
		{string(batch(`{"type":"cancel","commandId":""}`)), "commands[0].commandId: must be 1 to 128 bytes", "invalid", ""},
		{string(batch(`{"type":"cancel","commandId":"` + strings.Repeat("x", 129) + `"}`)), "commands[0].commandId: must be 1 to 128 bytes", "invalid", ""},
		{string(batch(`{"type":"configure","config":{"permissionMode":"yolo"}}`)), `commands[0].config.permissionMode: expected "default", "acceptEdits" or "fullAuto", got "yolo"`, "invalid", ""},
		{string(batch(`{"type":"configure","config":{"permissionMode":"accept_edits"}}`)), `commands[0].config.permissionMode: expected "default", "acceptEdits" or "fullAuto", got "accept_edits"`, "invalid", ""},
		{string(batch(`{"type":"configure","config":{"effort":"none"}}`)), `commands[0].config.effort: expected "low", "medium", "high" or "max", got "none"`, "invalid", ""},
		{string(batch(`{"type":"configure","config":{"maxTurns":2.5}}`)), "commands[0].config.maxTurns: expected an integer, got 2.5", "invalid", ""},
		{string(batch(`{"type":"configure","config":{"maxTurns":1e300}}`)), "commands[0].config.maxTurns: expected an integer, got 1e300", "invalid", ""},
		{string(batch(`{"type":"configure","config":{"maxTurns":1e999}}`)), "the message: a number that no float64 holds, at byte 72", "invalid", ""},
		{string(batch(`{"type":"cancel","type":"submit"}`)), "the message: a key is there twice, at byte 48", "invalid", ""},
		{string(batch(`{"type":"cancel","TYPE":"submit","prompt":"x"}`)), "the message: two keys differ only in case, at byte 48", "invalid", ""},
		{string(batch(`{"type":"submit","prompt":"\ud83d"}`)), "the message: half of a surrogate pair, at byte 58", "invalid", ""},
		{"\xef\xbb\xbf" + string(batch()), "the message is not JSON: byte 1: invalid character 'ï' looking for beginning of value", "invalid", ""},
		{string(batch(`{"type":"configure","config":{"maxTurns":-1}}`)), "commands[0].config: max turns -1: must be 0 to 1000000", "invalid", ""},
		{string(batch(`{"type":"configure","config":{"systemPrompt":"` + strings.Repeat("x", harness.MaxPrompt+1) + `"}}`)), "commands[0].config: system prompt: longer than 524288 bytes", "too_large", ""},
		{strings.Repeat(" ", maxFrame) + "{}", "the message has 1048578 bytes, more than 1048576", "too_large", ""},
	} {
		got, err := decode([]byte(c.in))
		if got != nil {
			t.Errorf("%.80s: refused, but commands came out: %+v", c.in, got)
		}
		checkRefusal(t, c.in, err, c.want, c.code, c.id)
	}
}

func checkRefusal(t *testing.T, in string, err error, want, code, id string) {
	t.Helper()
	var frame struct{ Type, Message, Code, CommandID string }
	if e := json.Unmarshal(appendError(nil, "", err), &frame); e != nil {
		t.Fatal(e)
	}
	text, _, _ := strings.Cut(frame.Message, ": invalid input")
	text = strings.TrimSuffix(text, ": too large")
	if frame.Type != "error" || text != want || frame.Code != code || frame.CommandID != id {
		t.Errorf("%.80s:\n got %+v\n want %q, %s, %q", in, frame, want, code, id)
	}
}

// Each field of each command, with each kind of value that it must not have.
func TestWrongTypesOfEveryFieldAreNamed(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{
		"a string": `"s"`, "a number": `1`, "a boolean": `true`, "null": `null`, "an array": `[]`, "an object": `{}`,
	}
	for _, c := range []struct {
		command, field, kind, rest string
		optional                   bool
	}{
		{"submit", "prompt", "a string", ``, false},
		{"submit", "commandId", "a string", `,"prompt":"p"`, true},
		{"steer", "message", "a string", ``, false},
		{"cancel", "commandId", "a string", ``, true},
		{"approve", "toolCallId", "a string", ``, false},
		{"deny", "toolCallId", "a string", ``, false},
		{"deny", "reason", "a string", `,"toolCallId":"c"`, true},
		{"resume", "prompt", "a string", `,"sessionId":"s"`, false},
		{"resume", "sessionId", "a string", `,"prompt":"p"`, false},
		{"rewind", "messageId", "a string", ``, false},
		{"rewind", "dryRun", "a boolean", `,"messageId":"m"`, true},
		{"rewind", "force", "a boolean", `,"messageId":"m"`, true},
		{"configure", "config", "an object", ``, false},
		{"configure", "config.permissionMode", "a string", ``, true},
		{"configure", "config.maxTurns", "a number", ``, true},
		{"configure", "config.model", "a string", ``, true},
		{"configure", "config.systemPrompt", "a string", ``, true},
		{"configure", "config.effort", "a string", ``, true},
	} {
		for kind, value := range kinds {
			if kind == c.kind {
				continue
			}
			member := fmt.Sprintf(`%q:%s`, c.field, value)
			if inner, ok := strings.CutPrefix(c.field, "config."); ok {
				member = fmt.Sprintf(`"config":{%q:%s}`, inner, value)
			}
			in := batch(fmt.Sprintf(`{"type":%q,%s%s}`, c.command, member, c.rest))
			_, err := decode(in)
			checkRefusal(t, string(in), err, fmt.Sprintf("commands[0].%s: expected %s, got %s", c.field, c.kind, kind), "invalid", "")
		}
		in := batch(fmt.Sprintf(`{"type":%q%s}`, c.command, c.rest))
		switch _, err := decode(in); {
		case !c.optional:
			checkRefusal(t, string(in), err, fmt.Sprintf("commands[0].%s: missing, expected %s", c.field, c.kind), "invalid", "")
		case c.command != "configure" && err != nil:
			t.Errorf("%s without %s: %v", c.command, c.field, err)
		}
	}
}

func FuzzCommands(f *testing.F) {
	for kind := range commands {
		f.Add(batch(fmt.Sprintf(`{"type":%q,"prompt":"p","message":"m","toolCallId":"c","sessionId":"s","messageId":"i","config":{"maxTurns":3},"commandId":"x"}`, kind)))
	}
	f.Add([]byte(`{"type":"commands","commands":[{"type":"submit","prompt":"\ud800"}]}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		requests, err := decode(frame)
		if err == nil {
			for _, r := range requests {
				if r.Cmd == nil || len(r.ID) > maxCommandID {
					t.Fatalf("%q became %+v", frame, r)
				}
			}
			return
		}
		r, ok := errors.AsType[*refusal](err)
		e, known := errors.AsType[*harness.Error](err)
		if requests != nil || !ok || len(r.ID) > maxCommandID || !known || e != harness.ErrInvalid && e != harness.ErrTooLarge {
			t.Fatalf("%q: %v, %v", frame, requests, err)
		}
		out := appendError(nil, "", err)
		if !json.Valid(out) || !utf8.Valid(out) || len(out) > 4096 {
			t.Fatalf("%q: answered with %q", frame, out)
		}
	})
}
