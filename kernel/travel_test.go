package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/jsonl"
	"harness/store/memory"
	"harness/store/sqlite"
)

// travelled are the stores that time is travelled on.
var travelled = map[string]func(t testing.TB) harness.Store{
	"memory": func(testing.TB) harness.Store { return memory.New() },
	"sqlite": func(t testing.TB) harness.Store {
		st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "harness.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return st
	},
	"jsonl": func(t testing.TB) harness.Store {
		st, err := jsonl.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return st
	},
}

// whatever is a script of everything that a state remembers.
const whatever = `when ask
  say "May I?"
  ask bash => files
  say Done.
else when work
  emit subagent_event {"agent_id":"a","status":"running","task":"look"}
  step 1/1 look completed
  emit session_checkpoint {"session_id":"x","sequence":1,"checkpoint_type":"step","status":"completed","summary_text":"looked","resume_cursor":null}
  emit artifact {"artifact_id":"art_1","artifact_type":"diff","title":"d"}
  emit context_compacted {"original_count":2,"compacted_count":1,"tokens_saved":1,"summary":"less","preserved_messages":1,"resume_cursor":null}
else when fail
  fail no
else
  stream 6 20ms word
  call ls => files
  stream 6 20ms more
end`

// On every store the state at any position of any session, branches of branches
// included, is the fold of its events up to there, sealed messages and all; and
// a branch changes nothing about those before it.
func TestTheStateAtAnyEventIsTheFoldOfThoseBefore(t *testing.T) {
	t.Parallel()
	seeds := uint64(1)
	if os.Getenv("LONG") != "" {
		seeds = 3
	}
	for name, open := range travelled {
		for seed := range seeds {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				bubble(t, func(t *testing.T) { travel(t, open(t), rand.New(rand.NewPCG(seed, 7))) })
			})
		}
	}
}

func travel(t *testing.T, st harness.Store, rng *rand.Rand) {
	t.Cleanup(func() { st.Close() }) // after the kernel
	r := &rig{t: t}
	r.boot(st, whatever, &kernel.Options{SnapshotEvery: 12, IdleAfter: time.Second, CancelGrace: time.Second})
	ids := []harness.SessionID{r.create(harness.NewSession{ID: "ses_0"})}
	for i := 1; len(ids) < 12; i++ {
		r.id = ids[rng.IntN(len(ids))]
		if rng.IntN(3) == 0 {
			seq := harness.Seq(1 + rng.IntN(int(r.state().Seq)))
			ids = append(ids, r.branch(harness.SessionID(fmt.Sprint("ses_", i)), seq).id)
			continue
		}
		r.submit([]string{"ask", "work", "fail", "go", "go"}[rng.IntN(5)])
		pass(time.Duration(rng.IntN(200)) * time.Millisecond)
		switch p := r.state().Pending; {
		case len(p) == 0:
		case rng.IntN(3) == 0: // stays open
		default:
			r.do(harness.Answer{Approval: p[0].ID, Decision: harness.Decision{Verdict: harness.Allow}})
		}
		if rng.IntN(2) == 0 {
			pass(time.Minute) // asleep
		}
	}
	pass(time.Minute)
	sealed := 0
	for _, r.id = range ids {
		log := r.log()
		for range 25 {
			seq := 1 + rng.IntN(len(log))
			got, err := r.k.At(t.Context(), r.id, harness.Seq(seq))
			if err != nil {
				t.Fatal(err)
			}
			sealed += got.Sealed
			want := foldAgain(t, log[:seq])
			want.Session = r.id
			if g, w := r.messages(got), r.messages(want); !slices.Equal(g, w) {
				t.Fatalf("%s at %d: the messages are\n%s\nwant\n%s", r.id, seq, g, w)
			}
			got.Sealed, got.Messages, want.Messages = 0, nil, nil
			if g, w := string(got.JSON()), string(want.JSON()); g != w {
				t.Fatalf("%s at %d: the state is\n%s\nwant\n%s", r.id, seq, g, w)
			}
		}
	}
	if sealed == 0 {
		t.Error("nothing was sealed: this tests nothing")
	}
}
