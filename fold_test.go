package harness_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"harness"
)

// The fold says what it does with every kind: adding one to the inventory
// without a case in Apply fails here.
func TestEveryKindIsFolded(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "fold.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]int{}
	ast.Inspect(f, func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "Apply" {
			return !ok
		}
		for _, s := range fn.Body.List {
			sw, ok := s.(*ast.TypeSwitchStmt)
			if !ok {
				continue
			}
			for _, c := range sw.Body.List {
				clause := c.(*ast.CaseClause)
				if clause.List == nil {
					t.Error("Apply has a default that would hide a new kind")
				}
				for _, e := range clause.List {
					cases[e.(*ast.StarExpr).X.(*ast.Ident).Name]++
				}
			}
		}
		return false
	})
	for _, info := range harness.Inventory() {
		name := reflect.TypeOf(info.New()).Elem().Name()
		if cases[name] != 1 {
			t.Errorf("Apply has %d cases for %s (%s)", cases[name], name, info.Type)
		}
		delete(cases, name)
	}
	delete(cases, "Unknown")
	for name := range cases {
		t.Errorf("Apply has a case for %s, which is not in the inventory", name)
	}
}

// story makes n events of every kind, with ids that meet each other and texts
// up to a size.
func story(rng *rand.Rand, n, size int) []harness.Event {
	var events []harness.Event
	pick := func(prefix string) string { return prefix + string(rune('a'+rng.IntN(3))) }
	kinds := harness.Inventory()
	for i := range n {
		p := kinds[rng.IntN(len(kinds))].New()
		switch q := p.(type) {
		case *harness.UserMessage:
			q.ItemID, q.Parts, q.ClientKey = harness.ItemID(pick("u")), harness.TextPart(pick("text ")), pick("k")
			q.Source = []harness.Source{harness.FromSubmit, harness.FromSteer, harness.FromTurn}[rng.IntN(3)]
		case *harness.TurnStart:
			q.TurnID, q.ItemID, q.Attempt = harness.TurnID(pick("t")), harness.ItemID(pick("a")), rng.IntN(3)
		case *harness.Token:
			q.Text, q.ItemID = pick("é🙂"), harness.ItemID(pick("a"))
		case *harness.Response:
			q.Text, q.ItemID = pick("whole "), harness.ItemID(pick("a"))
		case *harness.Thinking:
			q.Text = pick("hm ")
		case *harness.ToolCall:
			q.ToolCallID, q.Name, q.MessageID = harness.CallID(pick("c")), "bash", harness.ItemID(pick("a"))
			q.Arguments = json.RawMessage([]string{`{"a":1}`, `[1]`, `{"__proto__":1}`, ``}[rng.IntN(4)])
		case *harness.ToolLog:
			q.ToolCallID, q.Text = harness.CallID(pick("c")), strings.Repeat("é", rng.IntN(size))
		case *harness.ToolResult:
			q.ToolCallID, q.Output = harness.CallID(pick("c")), strings.Repeat("x", rng.IntN(size))
		case *harness.ToolOutcome:
			q.ToolCallID, q.Status = harness.CallID(pick("c")), []string{"ok", "error", "denied"}[rng.IntN(3)]
		case *harness.ApprovalRequired:
			q.RequestID, q.ToolCallID, q.ToolName = harness.ApprovalID(pick("r")), harness.CallID(pick("c")), "bash"
		case *harness.ApprovalApplied:
			q.RequestID, q.ToolCallID, q.Decision, q.Scope = harness.ApprovalID(pick("r")), harness.CallID(pick("c")), harness.Allow, harness.InSession
		case *harness.TurnEnd:
			q.TurnID, q.Status = harness.TurnID(pick("t")), []string{"completed", "cancelled", "error"}[rng.IntN(3)]
		case *harness.HookEvent:
			q.Kind = harness.HookCancel
		case *harness.SessionCheckpoint:
			q.CheckpointType, q.SummaryText = pick("engin"), strings.Repeat("é\xff", rng.IntN(size))
		case *harness.ContextCompacted:
			q.Summary = pick("compacted\n")
		case *harness.SubagentEvent:
			q.AgentID, q.Status, q.Task = pick("agent "), []string{"running", "completed", ""}[rng.IntN(3)], strings.Repeat("x", rng.IntN(size))
		case *harness.Artifact:
			q.ArtifactID, q.Title = pick("art_"), strings.Repeat("🙂", rng.IntN(size))
			q.Metadata = json.RawMessage([]string{``, `null`, `{ "a" : "<" }`, `{"a":"` + strings.Repeat("x", rng.IntN(600)) + `"}`, `{"point":{"x":1}}`}[rng.IntN(5)])
		case *harness.SessionState:
			if rng.IntN(4) == 0 {
				q.ParentSessionID, q.BranchSourceEventID = "parent", harness.EventID("parent", harness.Seq(i))
			}
		}
		events = append(events, harness.NewEvent("ses_f", harness.Seq(i+1), time.UnixMilli(int64(i)), "", p))
	}
	return events
}

// checkFold folds events in four ways that must agree: straight, from the log's
// bytes, through a snapshot at a random place, and through one whose messages
// are sealed. A clone taken on the way never changes.
func checkFold(t *testing.T, rng *rand.Rand, events []harness.Event) {
	t.Helper()
	straight, decoded, snapped, sealing := new(harness.State), new(harness.State), new(harness.State), new(harness.State)
	var sealed []string
	clone := new(harness.State)
	frozen := string(clone.JSON())
	for _, e := range events {
		straight.Apply(e)
		d, err := harness.DecodeEvent(e.JSON())
		if err != nil {
			t.Fatal(err)
		}
		decoded.Apply(d)
		snapped.Apply(d)
		sealing.Apply(d)
		if rng.IntN(10) == 0 {
			if snapped, err = harness.DecodeState(harness.EncodeState(snapped)); err != nil {
				t.Fatal(err)
			}
			n := sealing.Sealable()
			for _, m := range sealing.Messages[:n] {
				sealed = append(sealed, string(harness.EncodeMessage(m)))
			}
			sealing.Seal(n)
		}
		if rng.IntN(20) == 0 {
			clone = straight.Clone()
			frozen = string(clone.JSON())
		}
	}
	want := string(straight.JSON())
	for name, st := range map[string]*harness.State{"from its bytes": decoded, "through snapshots": snapped} {
		if got := string(st.JSON()); got != want {
			t.Fatalf("folded %s\n%s\nwant\n%s", name, got, want)
		}
	}
	for _, m := range sealing.Messages {
		sealed = append(sealed, string(harness.EncodeMessage(m)))
	}
	for i, m := range straight.Messages {
		if got := string(harness.EncodeMessage(m)); got != sealed[i] {
			t.Fatalf("message %d was sealed as\n%s\nand became\n%s", i, sealed[i], got)
		}
	}
	if got := string(clone.JSON()); got != frozen {
		t.Fatalf("a clone changed from\n%s\nto\n%s", frozen, got)
	}
}

func TestFoldsAgree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		checkFold(t, rng, story(rng, 150, 9000))
	}
}

// FuzzFold: no event can make the fold fail, and all ways to fold agree.
func FuzzFold(f *testing.F) {
	for seed := range uint64(5) {
		var log []byte
		for _, e := range story(rand.New(rand.NewPCG(seed, 2)), 12, 20) {
			log = append(append(log, e.JSON()...), '\n')
		}
		f.Add(seed, log)
	}
	f.Fuzz(func(t *testing.T, seed uint64, log []byte) {
		var events []harness.Event
		for line := range strings.Lines(string(log)) {
			if e, err := harness.DecodeEvent([]byte(strings.TrimSpace(line))); err == nil {
				events = append(events, e)
			}
		}
		checkFold(t, rand.New(rand.NewPCG(seed, 3)), events)
	})
}
