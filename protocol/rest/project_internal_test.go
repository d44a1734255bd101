package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/store/memory"
)

// stage is a kernel inside a bubble, where ids and times are always the same.
type stage struct {
	t   testing.TB
	k   *kernel.Kernel
	id  harness.SessionID
	mu  sync.Mutex // guards ids
	ids map[string]int
}

func newStage(t testing.TB, src string) *stage {
	t.Helper()
	sc, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, ids: map[string]int{}}
	s.k = kernel.New(memory.New(), map[string]harness.Engine{"script": script.New(sc, nil)}, &kernel.Options{
		Engine: "script", Directory: "/workspace", Window: -1, SnapshotEvery: 8,
		NewID: s.next,
	})
	t.Cleanup(func() { s.k.Close() })
	s.create(harness.NewSession{ID: "ses_a", User: "ada"})
	return s
}

func (s *stage) next(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[prefix]++
	return fmt.Sprint(prefix, s.ids[prefix])
}

func (s *stage) create(n harness.NewSession) {
	s.t.Helper()
	id, err := s.k.Create(s.t.Context(), n)
	if err != nil {
		s.t.Fatal(err)
	}
	s.id = id
}

// act does one line of a story: submit TEXT, allow, deny, cancel, branch
// [CURSOR]; and lets the session come to rest.
func (s *stage) act(line string) {
	s.t.Helper()
	verb, text, _ := strings.Cut(line, " ")
	var cmd harness.Command
	switch verb {
	case "submit":
		cmd = harness.Submit{Parts: harness.TextPart(text), Source: harness.FromTurn, Actor: "ada"}
	case "allow", "deny":
		cmd = harness.Answer{Approval: s.state(0).Pending[0].ID, Decision: harness.Decision{Verdict: harness.Verdict(verb), Actor: "ada", Reason: text}}
	case "cancel":
		cmd = harness.Cancel{Actor: "ada"}
	case "branch":
		from, err := harness.BranchAt(s.id, "", text)
		if err != nil {
			s.t.Fatal(err)
		}
		s.create(harness.NewSession{From: from})
		return
	default:
		s.t.Fatalf("no such verb: %s", line)
	}
	if _, err := s.k.Do(s.t.Context(), s.id, cmd); err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	time.Sleep(time.Minute) // sleep: of the bubble's clock
	synctest.Wait()
}

func (s *stage) state(at harness.Seq) *harness.State {
	s.t.Helper()
	st, err := s.k.At(s.t.Context(), s.id, at)
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

func (s *stage) detail(st *harness.State) string {
	s.t.Helper()
	d, err := describe(s.t.Context(), s.k, st)
	if err != nil {
		s.t.Fatal(err)
	}
	return indented(s.t, d)
}

func indented(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDetails plays each story and compares what its session's detail says.
// At every position it is a function of the log alone: the fold of the events
// up to there gives the same as the stored state.
func TestDetails(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/detail/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(path)
			if err != nil || len(ar.Files) < 2 {
				t.Fatal("a story has an engine and something to do", err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, string(ar.Files[0].Data))
				for line := range strings.Lines(string(ar.Files[1].Data)) {
					s.act(strings.TrimSpace(line))
				}
				got = s.detail(s.state(0))
				checkPure(t, s)
			})
			if os.Getenv("UPDATE") != "" {
				ar.Files = append(ar.Files[:2], txtar.File{Name: "detail", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(ar), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) != 3 || string(ar.Files[2].Data) != got {
				t.Errorf("the detail is\n%s", got)
			}
		})
	}
}

// checkPure compares the detail at every position, from snapshots, with that of
// the folded log, and follows every resume point.
func checkPure(t *testing.T, s *stage) {
	t.Helper()
	folded := new(harness.State)
	for e, err := range s.k.Read(t.Context(), s.id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		folded.Apply(e)
		st := folded.Clone()
		st.Session = s.id
		if got, want := s.detail(s.state(e.Seq)), s.detail(st); got != want {
			t.Fatalf("at %d the detail is\n%s\nwant\n%s", e.Seq, got, want)
		}
	}
	for _, p := range projectPoints(folded) {
		for _, from := range [][2]string{{p.EventID, ""}, {"", p.Cursor}} {
			b, err := harness.BranchAt(s.id, from[0], from[1])
			if err != nil {
				t.Fatal(err)
			}
			id, err := s.k.Create(t.Context(), harness.NewSession{From: b})
			if err != nil {
				t.Fatalf("%s cannot be branched at: %v", p.Cursor, err)
			}
			st, err := s.k.At(t.Context(), id, 0)
			if err != nil || st.Status != harness.Idle || st.From.Seq != p.Seq {
				t.Errorf("branched at %s: %+v, %v", p.Cursor, st, err)
			}
		}
	}
}

// A switch over payloads says what it does with every kind: adding one to the
// inventory without a case fails here.
func TestEveryKindIsRoutedAndTold(t *testing.T) {
	t.Parallel()
	for file, name := range map[string]string{"project_route.go": "route", "project_summary.go": "told"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		cases := map[string]int{}
		ast.Inspect(f, func(n ast.Node) bool {
			fn, ok := n.(*ast.FuncDecl)
			if ok && fn.Name.Name != name {
				return false
			}
			if c, ok := n.(*ast.CaseClause); ok {
				for _, e := range c.List {
					cases[e.(*ast.StarExpr).X.(*ast.SelectorExpr).Sel.Name]++
				}
			}
			return true
		})
		for _, info := range harness.Inventory() {
			if kind := reflect.TypeOf(info.New()).Elem().Name(); cases[kind] != 1 {
				t.Errorf("%s has %d cases for %s", name, cases[kind], kind)
			}
			if s := summarize(info.New()); len(s) > maxSummary+len("…") {
				t.Errorf("%s is told as %s", info.Type, s)
			}
		}
	}
}

// However long the log and its events are, a channel is a screen of them.
func TestAChannelIsBounded(t *testing.T) {
	t.Parallel()
	st := new(harness.State)
	var recent []harness.Event
	for i := range harness.Seq(maxEnvelopes) {
		e := harness.NewEvent("ses_1", i+1, time.UnixMilli(0), "", &harness.Token{Text: strings.Repeat("é", 4<<10)})
		st.Apply(e)
		recent = append(recent, e)
	}
	ch := projectChannel(st, recent)
	if n := len(ch.Envelopes); n < 16 || n > 32 || ch.TruncatedBeforeSeq != harness.Seq(maxEnvelopes-n+1) || len(indented(t, ch)) > maxChannelBytes*5/4 {
		t.Errorf("%d envelopes from %d on", n, ch.TruncatedBeforeSeq)
	}
	huge := harness.NewEvent("ses_1", maxEnvelopes+1, time.UnixMilli(0), "", &harness.Token{Text: strings.Repeat("x", 2*maxChannelBytes)})
	st.Apply(huge)
	if ch = projectChannel(st, append(recent, huge)); len(ch.Envelopes) != 1 || ch.TruncatedBeforeSeq != huge.Seq {
		t.Errorf("%d envelopes from %d on", len(ch.Envelopes), ch.TruncatedBeforeSeq)
	}
	if ch = projectChannel(new(harness.State), nil); len(ch.Participants) != 2 || ch.Envelopes == nil {
		t.Errorf("an empty log's channel is %+v", ch)
	}
}

// counted counts the events that are read.
type counted struct {
	sessions
	events int
}

func (c *counted) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for e, err := range c.sessions.Read(ctx, id, after) {
			c.events++
			if !yield(e, err) {
				return
			}
		}
	}
}

// A detail costs the same in a history of any length, and its points are there
// however much was said since.
func TestADetailNeverScansTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "when point\n  ask bash call-1 => ok\nelse\n  repeat 300\n    call ls => a\n  end\nend")
		s.act("submit point")
		s.act("allow")
		for range 4 {
			s.act("submit go")
		}
		c := &counted{sessions: s.k}
		st := s.state(0)
		d, err := describe(s.t.Context(), c, st)
		if err != nil || st.Seq < 4000 {
			s.t.Fatal(st.Seq, err)
		}
		if c.events > maxEnvelopes || len(d.Channel.Envelopes) != maxEnvelopes || d.Channel.TruncatedBeforeSeq != st.Seq-maxEnvelopes+1 {
			s.t.Errorf("%d events were read for %d envelopes", c.events, len(d.Channel.Envelopes))
		}
		if n := len(d.ResumePoints); n != 6 || d.ResumePoints[n-1].Kind != harness.AtApproval {
			s.t.Errorf("the resume points are %+v", d.ResumePoints)
		}
	})
}

// FuzzDetail: whatever a log says, its detail holds together: points are newest
// first and name places, and everybody in an envelope takes part.
func FuzzDetail(f *testing.F) {
	var log []byte
	for i, info := range harness.Inventory() {
		log = append(append(log, harness.NewEvent("a:b", harness.Seq(i+1), time.UnixMilli(0), "trn_1", seeded(info)).JSON()...), '\n')
	}
	f.Add(log)
	f.Fuzz(func(t *testing.T, log []byte) {
		st := new(harness.State)
		var recent []harness.Event
		for line := range bytes.Lines(log) {
			if e, err := harness.DecodeEvent(bytes.Clone(bytes.TrimSpace(line))); err == nil && e.Seq > st.Seq {
				st.Apply(e)
				recent = append(recent, e)
			}
		}
		last := harness.Seq(1<<64 - 1)
		for _, p := range projectPoints(st) {
			c, err := harness.ParseCursor(p.Cursor)
			if err != nil || c.Seq != p.Seq || p.Seq >= last || p.EventID != harness.EventID(c.Session, c.Seq) {
				t.Fatalf("%+v behind %d: %v", p, last, err)
			}
			last = p.Seq
		}
		ch := projectChannel(st, recent)
		here := map[string]bool{}
		for _, p := range ch.Participants {
			if here[p.ID] || !strings.HasPrefix(p.ID, p.Kind) {
				t.Fatalf("participants %+v", ch.Participants)
			}
			here[p.ID] = true
		}
		for _, e := range ch.Envelopes {
			for _, id := range append(e.RecipientIDs, e.SenderID) {
				if !here[id] {
					t.Fatalf("%s of %+v takes no part", id, e)
				}
			}
		}
		again := indented(t, detail{projectPoints(st), projectSubagents(st), projectArtifacts(st), projectCheckpoints(st), projectArtifacts(st), ch})
		if !json.Valid([]byte(again)) {
			t.Fatal(again)
		}
	})
}

// seeded is a payload of a kind that the fold takes notice of.
func seeded(info harness.Info) harness.Payload {
	switch p := info.New().(type) {
	case *harness.TurnStart:
		p.TurnID = "trn_1"
		return p
	case *harness.TurnEnd:
		p.TurnID, p.Status = "trn_1", harness.TurnCompleted
		return p
	case *harness.HealthSnapshot:
		p.RawMessage = json.RawMessage("{}")
		return p
	default:
		return p
	}
}
