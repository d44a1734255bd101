package kernel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/internal/redact"
	"harness/kernel"
)

const (
	canary = "canary-9f8e7d6c5b4a"
	key    = "sk-ant-api03-AbCdEf0123456789_-AbCdEf0123456789" // only looks like one
)

// redactor is the real one, which knows the canary.
type redactor struct{ *redact.Redactor }

func (r redactor) Stream() kernel.TextStream { return r.Redactor.Stream() }

func newRedactor(t testing.TB) kernel.Redactor {
	t.Helper()
	r, err := redact.New(canary)
	if err != nil {
		t.Fatal(err)
	}
	return redactor{r}
}

// redacted is a session with a redactor whose engine runs a function.
func redacted(t *testing.T, run func(*attempt) error) *rig {
	t.Helper()
	return with(t, &kernel.Options{Redact: newRedactor(t)}, run)
}

// everything is all that is kept and shown of the session.
func (r *rig) everything() string {
	var b strings.Builder
	for _, e := range r.log() {
		fmt.Fprintf(&b, "%s\n", e.JSON())
	}
	st := r.state()
	for _, m := range r.messages(st) {
		fmt.Fprintln(&b, m)
	}
	raw, err := json.Marshal(st)
	if err != nil {
		r.t.Fatal(err)
	}
	return b.String() + string(raw)
}

func (r *rig) hides(secrets ...string) {
	r.t.Helper()
	all := r.everything()
	for _, s := range secrets {
		if strings.Contains(all, s) {
			r.t.Errorf("%q is in\n%s", s, all)
		}
	}
}

func (a *attempt) emits(all ...harness.Payload) error {
	for _, p := range all {
		if err := a.host.Emit(a.ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.Type(), err)
		}
	}
	return nil
}

// fill sets every text of a payload, whatever its kind.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), text)
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"` + text + `":["` + text + `"]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	}
}

// TestNoKindOfEventCarriesASecret goes through the whole inventory, and a kind
// from the future.
func TestNoKindOfEventCarriesASecret(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var said, refused []harness.Type
		r := redacted(t, func(a *attempt) error {
			for _, secret := range []string{canary, key} {
				for _, info := range append(harness.Inventory(), harness.Info{Type: harness.Type(secret), New: func() harness.Payload { return new(harness.Unknown) }}) {
					p := info.New()
					fill(reflect.ValueOf(p), secret)
					switch p := p.(type) {
					case *harness.SessionCheckpoint:
						p.EngineRef = "" // see TestACheckpointWithASecretIsRefused
					case *harness.ToolOutcome:
						p.Status = harness.OutcomeOK
					case *harness.Artifact:
						p.Content = nil // see TestTheContentOfAnArtifactIsKeptWithoutSecrets
					}
					if err := a.host.Emit(a.ctx, p); errors.Is(err, harness.ErrInvalid) {
						refused = append(refused, info.Type)
					} else if err != nil {
						return err
					} else {
						said = append(said, info.Type)
					}
				}
			}
			return fmt.Errorf("with %s and %s", canary, key)
		})
		r.submit("go")
		if st := r.rest(); st.Error != "with "+redact.Mark+" and "+redact.Mark {
			t.Errorf("error %q", st.Error)
		}
		r.hides(canary, key)
		kinds := map[harness.Type]bool{}
		for _, e := range r.log() {
			kinds[e.Type()] = true
		}
		for _, k := range said {
			if k == canary || k == key {
				k = redact.Mark
			}
			if !kinds[k] {
				t.Errorf("no %s in the log", k)
			}
		}
		if len(said)+len(refused) != 2*(len(harness.Inventory())+1) || len(refused) != 2*9 {
			t.Errorf("said %v, refused %v", said, refused)
		}
	})
}

// TestASecretCutByAnythingIsNeverWhole: not in one event, and not in the texts
// that events add up to.
func TestASecretCutByAnythingIsNeverWhole(t *testing.T) {
	t.Parallel()
	token := func(s string) harness.Payload { return &harness.Token{Text: s} }
	cuts := map[string]harness.Payload{
		"nothing":   token(""),
		"a thought": &harness.Thinking{Text: "hm"},
		"a call":    &harness.ToolCall{ToolCallID: "c", Name: "ls"},
		"usage":     &harness.Usage{},
		"a step":    &harness.StepProgress{StepID: "1"},
		"a log":     &harness.ToolLog{ToolCallID: "c0", Text: "x"},
	}
	texts := map[string]func(string) harness.Payload{
		"token":      token,
		"thinking":   func(s string) harness.Payload { return &harness.Thinking{Text: s} },
		"reflection": func(s string) harness.Payload { return &harness.Reflection{Text: s} },
		"log":        func(s string) harness.Payload { return &harness.ToolLog{ToolCallID: "c0", Stream: "stdout", Text: s} },
	}
	for what, cut := range cuts {
		for kind, text := range texts {
			t.Run(kind+" cut by "+what, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r := redacted(t, func(a *attempt) error {
						all := []harness.Payload{&harness.ToolCall{ToolCallID: "c0", Name: "sh"}, text("it is ")}
						for _, secret := range []string{canary, key} {
							for i := 0; i < len(secret); i += 7 {
								all = append(all, text(secret[i:min(len(secret), i+7)]), cut)
							}
							all = append(all, text(" "))
						}
						return a.emits(append(all, text("the end cana"))...)
					})
					r.submit("go")
					r.rest()
					r.hides(canary, key)
					if all := r.everything(); !strings.Contains(all, "the end cana") {
						t.Errorf("the end is missing:\n%s", all)
					}
				})
			})
		}
	}
}

// TestOutputOfTwoStreamsIsRedactedApart: what a call prints on one does not end
// a secret on the other.
func TestOutputOfTwoStreamsIsRedactedApart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := redacted(t, func(a *attempt) error {
			log := func(stream, s string) harness.Payload {
				return &harness.ToolLog{ToolCallID: "c", Stream: stream, Text: s}
			}
			return a.emits(&harness.ToolCall{ToolCallID: "c", Name: "sh"},
				log("stdout", "got "+canary[:9]), log("stderr", "no "+canary[:5]), log("stdout", canary[9:]+"\n"), log("stderr", "!"),
				&harness.ToolOutcome{ToolCallID: "c", Status: harness.OutcomeOK})
		})
		r.submit("go")
		r.rest()
		var out strings.Builder
		for _, e := range r.log() {
			if l, ok := e.Payload.(*harness.ToolLog); ok {
				out.WriteString(l.Stream + " " + l.Text + ";")
			}
		}
		if want := "stdout got ;stderr no ;stdout " + redact.Mark + "\n;stderr canar!;"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

// TestHeldTextIsSaidBeforeWhatFollows: nothing is lost, and nothing changes
// places.
func TestHeldTextIsSaidBeforeWhatFollows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		steered := make(chan struct{})
		r := redacted(t, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "cancel" {
				if err := a.say("gone canary-9"); err != nil {
					return err
				}
				<-a.ctx.Done()
				return a.ctx.Err()
			}
			if err := a.say("before canary-9"); err != nil {
				return err
			}
			close(steered)
			<-a.host.Steering()
			if err := a.say("after canary-9"); err != nil {
				return err
			}
			return a.host.Checkpoint(a.ctx, "ref")
		})
		r.submit("go")
		<-steered
		r.do(harness.Steer{Parts: harness.TextPart("hey")})
		st := r.rest()
		if got, want := r.conversation(st), "user:go(complete) assistant:before canary-9(complete) user:hey(complete) assistant:after canary-9(complete)"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if log := r.story(); !strings.Contains(log, "canary-9\nsession_checkpoint\n") {
			t.Errorf("the checkpoint is not behind the text:\n%s", log)
		}
		r.submit("cancel")
		r.until("text", func(st *harness.State) bool { return strings.Contains(r.conversation(st), "gone ") })
		r.do(harness.Cancel{})
		if got := r.conversation(r.rest()); !strings.HasSuffix(got, "assistant:gone canary-9(complete)") {
			t.Errorf("got %s", got)
		}
	})
}

// TestADecisionCoversTheCallAsItIs: people see and decide about the call without
// the secret; the engine gets a decision about the one it asked about.
func TestADecisionCoversTheCallAsItIs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		args := json.RawMessage(`{"command":"curl -H 'x: ` + canary + `'"}`)
		var d harness.Decision
		r := redacted(t, func(a *attempt) (err error) {
			if err := a.emits(&harness.ToolCall{ToolCallID: "c", Name: "bash", Arguments: args}); err != nil {
				return err
			}
			d, err = a.host.Ask(a.ctx, harness.ToolUse{Call: "c", Tool: "bash", Access: harness.AccessExecute, Input: args, Description: "send " + canary, Reason: canary})
			return err
		})
		r.submit("go")
		p := r.pending(1).Pending[0]
		if p.Description != "send "+redact.Mark || p.Digest != harness.Digest(args) || !p.Redacted {
			t.Errorf("%+v", p)
		}
		r.allow()
		r.rest()
		if !d.Covers(args) || d.Covers(json.RawMessage(`{}`)) || d.Covers(p.Input) {
			t.Errorf("%+v", d)
		}
		r.hides(canary)
	})
}

func TestACheckpointWithASecretIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var errs []error
		r := redacted(t, func(a *attempt) error {
			errs = append(errs, a.host.Checkpoint(a.ctx, canary), a.emits(&harness.SessionCheckpoint{EngineRef: "x" + canary}))
			return a.host.Checkpoint(a.ctx, "fine")
		})
		r.submit("go")
		if st := r.rest(); st.EngineRef != "fine" {
			t.Errorf("ref %q", st.EngineRef)
		}
		for _, err := range errs {
			if !errors.Is(err, harness.ErrInvalid) || strings.Contains(err.Error(), canary) {
				t.Error(err)
			}
		}
		r.hides(canary)
	})
}

// TestWhatPeopleSayStaysButKnownValues: a prompt may hold what looks like a key;
// our own tokens are kept from the log and from engines.
func TestWhatPeopleSayStaysButKnownValues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var heard string
		steered := make(chan struct{})
		r := redacted(t, func(a *attempt) error {
			heard = harness.PlainText(a.turn.Parts)
			close(steered)
			heard += " " + harness.PlainText(harness.Spoken(<-a.host.Steering()))
			return nil
		})
		parts := harness.TextPart("use " + key + " and " + canary)
		r.do(harness.Submit{Parts: parts, ClientKey: canary, Actor: canary})
		<-steered
		r.do(harness.Steer{Parts: []harness.Part{{Type: "file", URL: "http://x/?k=" + canary}}, ClientKey: canary + "2"})
		r.rest()
		r.do(harness.Configure{Title: new(canary), Patch: harness.ConfigPatch{SystemPrompt: new("be " + canary), Model: new(canary), Agent: new(canary)}, Actor: canary})
		r.do(harness.Pause{ClientKey: canary + "3", Actor: canary})
		r.do(harness.Resume{ClientKey: canary + "4", Actor: canary})
		r.refused(harness.ErrNotRunning, harness.Cancel{ClientKey: canary + "5", Actor: canary})
		r.hides(canary)
		if want := "use " + key + " and " + redact.Mark + " [http://x/?k=" + redact.Mark + "]"; heard != want {
			t.Errorf("the engine heard %q, want %q", heard, want)
		}
		if parts[0].Text != "use "+key+" and "+canary {
			t.Error("the caller's prompt was changed")
		}
		for _, n := range []harness.NewSession{{ID: canary}, {User: canary}, {Engine: canary}, {Directory: "/x/" + canary}} {
			if _, err := r.k.Create(t.Context(), n); !errors.Is(err, harness.ErrInvalid) || strings.Contains(err.Error(), canary) {
				t.Errorf("%+v: %v", n, err)
			}
		}
		r.id = r.create(harness.NewSession{Title: canary, Config: harness.ConfigPatch{SystemPrompt: new(canary)}})
		r.hides(canary)
	})
}
