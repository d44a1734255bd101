package kernel_test

import (
	"encoding/json"
	"fmt"
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

// BenchmarkHealthAndPolicyBesideAnAppend is what health and policy cost beside
// the append of one event that is synced, of one session that shares its flush
// with nobody: medians of the same run, in rounds. Each call has four events at
// least, and one decision.
func BenchmarkHealthAndPolicyBesideAnAppend(b *testing.B) {
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
	for b.Loop() {
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
	b.ReportMetric(appended/1e3, "append-µs")
	b.ReportMetric(100*median("health")/appended, "health-%")
	b.ReportMetric(100*median("command")/often/appended, "command-%")
	b.ReportMetric(100*median("line")/often/appended, "line-%")
	b.ReportMetric(100*(median("line")/often/4+median("health"))/appended, "both-per-event-%")
}
