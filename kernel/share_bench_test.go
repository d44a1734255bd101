package kernel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"harness"
	"harness/health"
	"harness/policy"
	"harness/store/sqlite"
)

// rulesOfAFile are what a careful administrator would write.
const rulesOfAFile = `rules:
  - {deny: "*", paths: ["**/.env", "secrets/**", "/home/*/.ssh/**"]}
  - {deny: bash, commands: ["git push * --force *", "rm -rf *"]}
  - {allow: bash, commands: ["npm test *", "go test *", "git status *", "ls *", "cd *", "head *"], env: [CI], paths: ["out/**"]}
  - {allow: [write, edit], paths: ["docs/**", "*.md"]}
  - {deny: fetch, hosts: ["*.internal"]}
`

// shares are what health and policy cost beside an append: percent of it.
type shares struct {
	appended                    time.Duration
	health, command, line, both float64 // of an event; of a decision about a command, and a line of three; of an event with its share of a decision
}

func BenchmarkHealthAndPolicyBesideAnAppend(b *testing.B) {
	s := besideAnAppend(b, b.Loop)
	b.ReportMetric(float64(s.appended)/1e3, "append-µs")
	b.ReportMetric(s.health, "health-%")
	b.ReportMetric(s.command, "command-%")
	b.ReportMetric(s.line, "line-%")
	b.ReportMetric(s.both, "both-per-event-%")
}

// Health and policy cost at most a twentieth of an append, per event.
func TestHealthAndPolicyCostAtMostATwentiethOfAnAppend(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it: medians of the same run")
	}
	rounds := 0
	s := besideAnAppend(t, func() bool { rounds++; return rounds <= 500 })
	t.Logf("an append takes %v: health %.2f %%, with policy %.2f %% of it", s.appended, s.health, s.both)
	if s.health > 5 || s.both > 5 {
		t.Errorf("health takes %.2f %% of an append, with policy %.2f %%, want 5 at most", s.health, s.both)
	}
}

// besideAnAppend measures beside the append of one event that is synced, of one
// session that shares its flush with nobody: medians of the same run, in rounds.
// Each call has four events at least, and one decision.
func besideAnAppend(b testing.TB, more func() bool) shares {
	b.Helper()
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	file, err := policy.Parse("p.yaml", []byte(rulesOfAFile))
	if err != nil {
		b.Fatal(err)
	}
	rules := policy.Join(file, nil, "/w/project")
	ctx := policy.Context{Mode: harness.Normal, Directory: "/w/project"}
	use := func(line string) harness.ToolUse {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			b.Fatal(err)
		}
		return harness.ToolUse{Tool: "bash", Access: harness.AccessExecute, Input: input}
	}
	one, three := use("npm test"), use("cd sub && npm test -- --watch 2>&1 | head -50 > out/a.txt")
	fold := health.New(nil)
	limits := &harness.HealthPolicy{TotalTokens: new(int64(1 << 40)), RuntimeMinutes: new(1e6), LoopWarnings: new(int64(1 << 40))}
	fold.Apply(harness.NewEvent("ses_1", 1, time.Now(), "", &harness.SessionState{Status: harness.Running, Policy: &harness.SessionPolicy{Health: limits}}))

	const often = 8 // of which each is timed as one: the clock and what an append leaves of the caches are not theirs
	took := map[string][]time.Duration{}
	timed := func(what string, f func()) {
		began := time.Now()
		f()
		took[what] = append(took[what], time.Since(began))
	}
	seq := harness.Seq(0)
	for more() {
		call := harness.CallID(fmt.Sprint("c", seq))
		for _, p := range []harness.Payload{
			&harness.ToolCall{Name: "bash", Arguments: three.Input, ToolCallID: call},
			&harness.PolicyDecision{Subject: "bash", Outcome: "allow"},
			&harness.ToolResult{ToolCallID: call, Output: string(call)},
			&harness.ToolOutcome{ToolCallID: call, Status: harness.OutcomeOK},
		} {
			seq++
			e := harness.NewEvent("ses_1", seq, time.Now(), "trn_1", p)
			timed("append", func() {
				err = st.Append(b.Context(), harness.Commit{Session: "ses_1", After: seq - 1, Events: []harness.Event{e}, Summary: harness.Summary{Session: "ses_1", Seq: seq, Updated: e.Time}})
			})
			if err != nil {
				b.Fatal(err)
			}
			timed("health", func() {
				fold.Apply(e)
				fold.Score()
				fold.Exceeded()
			})
		}
		for what, u := range map[string]harness.ToolUse{"command": one, "line": three} {
			timed(what, func() {
				for range often {
					policy.Decide(rules, ctx, nil, nil, u)
				}
			})
		}
	}
	median := func(what string) float64 {
		slices.Sort(took[what])
		return float64(took[what][len(took[what])/2])
	}
	appended := median("append")
	percent := func(part float64) float64 { return 100 * part / appended }
	return shares{
		time.Duration(appended), percent(median("health")), percent(median("command") / often), percent(median("line") / often),
		percent(median("line")/often/4 + median("health")),
	}
}
