package kernel_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// modest is an engine that says what it can do.
type modest struct{ can harness.Abilities }

func (m modest) Abilities() harness.Abilities { return m.can }

func (modest) Run(ctx context.Context, _ harness.Turn, h harness.Host) error {
	return h.Emit(ctx, &harness.Token{Text: "hello"})
}

// TestASessionSaysWhatItsEngineLacks from its first event on, and again when
// another engine, or the same in another version, runs its turns.
func TestASessionSaysWhatItsEngineLacks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New()
		deaf, able := harness.Abilities{Tools: true, Resume: true, Thinks: true, Approve: true}, harness.Abilities{Tools: true, Resume: true, Thinks: true, Approve: true, Steer: true}
		told := func(can harness.Abilities, id harness.SessionID, turn bool) (says []harness.SessionState) {
			k := kernel.New(st, map[string]harness.Engine{"modest": modest{can}}, &kernel.Options{Engine: "modest"})
			defer k.Close()
			if !turn {
				if _, err := k.Create(t.Context(), harness.NewSession{ID: id}); err != nil {
					t.Fatal(err)
				}
			} else if _, err := k.Do(t.Context(), id, harness.Submit{Parts: harness.TextPart("go")}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for e, err := range k.Read(t.Context(), id, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if s, ok := e.Payload.(*harness.SessionState); ok && s.Engine != "" {
					says = append(says, *s)
				}
			}
			return says
		}
		if says := told(deaf, "ses_1", false); len(says) != 1 || !says[0].Lacks.Equal(deaf.Lacks()) || len(says[0].Lacks.Commands) != 1 {
			t.Errorf("it begins with %+v", says)
		}
		if says := told(deaf, "ses_1", true); len(says) != 1 {
			t.Errorf("it says again what it said: %+v", says)
		}
		if says := told(able, "ses_1", true); len(says) != 2 || !says[1].Lacks.Equal(able.Lacks()) {
			t.Errorf("with another engine it says %+v", says)
		}
		if says := told(able, "ses_1", true); len(says) != 2 {
			t.Errorf("it says again what it said: %+v", says)
		}

		// One that was written elsewhere names none: the usual engine takes it.
		first := harness.NewEvent("ses_2", 1, time.Now(), "", &harness.SessionState{SessionID: "ses_2", Status: harness.Idle, Kind: harness.Chat})
		if err := st.Append(t.Context(), harness.Commit{Session: "ses_2", Events: []harness.Event{first}, Summary: harness.Summary{Session: "ses_2", Seq: 1}}); err != nil {
			t.Fatal(err)
		}
		if says := told(able, "ses_2", true); len(says) != 1 || says[0].Engine != "modest" {
			t.Errorf("one without an engine says %+v", says)
		}
	})
}
