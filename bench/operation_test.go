package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/internal/object"
	"harness/internal/socket"
)

// operations is the CPU that one operation costs in the parts of the server that
// every delta goes through, in ns, on a conversation of 1,000 messages.
type operations struct {
	path, token   float64 // applied to the document by its path, or folded into the session's state; then merged, a frame for every 100
	applyAllocs   float64 // of the worse of the two
	first, second float64 // applied by path to a text that grows to 20,000 of them: its halves
	plain, escape float64 // one operation of 132 bytes made a frame; with a text that needs escapes
	encodeAllocs  float64 // of the worse of the two
}

const (
	oneToken = "tokn "
	growth   = 20_000
	perFrame = 100
)

var lastContent = []string{"messages", "999", "content"}

// The texts that are encoded.
const (
	plainText  = "The quick brown fox jumps over the lazy dog and tells all of it"
	escapeText = "She said: \"né 😀\"\n\tand \\ went on, über alle Berge\u2028 and away…"
)

// measureOperations counts calls itself: testing.Benchmark, the obvious way, may
// not run inside the benchmark that shows the same figures.
func measureOperations(tb testing.TB, _ struct{}) operations {
	rounds := 31
	if long() {
		rounds = 151
	}
	byPath, folded, growing := newApplying(tb), newFolding(), newApplying(tb)
	plain, escape := encoding(plainText), encoding(escapeText)
	var o operations
	all := map[*float64][]float64{}
	take := func(to *float64, calls int, f func()) { all[to] = append(all[to], cpuPerCall(calls, f)) }
	for range rounds {
		byPath.clear(tb)
		take(&o.path, growth, byPath.one)
		folded.clear()
		take(&o.token, growth, folded.one)
		growing.clear(tb)
		take(&o.first, growth/2, growing.apply)
		take(&o.second, growth/2, growing.apply)
		take(&o.plain, growth, plain)
		take(&o.escape, growth, escape)
	}
	for to, values := range all {
		*to = median(values)
	}
	o.applyAllocs = max(testing.AllocsPerRun(growth, byPath.one), testing.AllocsPerRun(growth, folded.one))
	o.encodeAllocs = max(testing.AllocsPerRun(growth, plain), testing.AllocsPerRun(growth, escape))
	return o
}

// cpuPerCall is the process's CPU for one of so many calls of f, in ns.
func cpuPerCall(calls int, f func()) float64 {
	runtime.GC()
	start := cpuNow()
	for range calls {
		f()
	}
	return float64(cpuNow()-start) / float64(calls)
}

// merging folds operations into what is pending, and that into frames.
type merging struct {
	out   object.Pending
	frame []byte
	n     int
}

func (m *merging) add(path []string, text string) {
	m.out.AppendText(path, text)
	if m.n++; m.n%perFrame == 0 {
		m.frame = m.out.AppendJSON(m.frame[:0])
		m.out.Reset()
	}
}

// applying is a document whose last text grows.
type applying struct {
	tree object.Tree
	op   []object.Op
	merging
	err error
}

func newApplying(tb testing.TB) *applying {
	var doc strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&doc, `,{"id":"m%d","role":"assistant","content":"","status":"streaming"}`, i)
	}
	a := &applying{op: []object.Op{{Kind: object.AppendText, Path: lastContent, Text: oneToken}}}
	if err := a.tree.Apply([]object.Op{{Kind: object.Set, Value: []byte(`{"status":"running","messages":[` + doc.String()[1:] + `]}`)}}); err != nil {
		tb.Fatal(err)
	}
	return a
}

// clear empties the text.
func (a *applying) clear(tb testing.TB) {
	if err := a.tree.Apply([]object.Op{{Kind: object.Set, Path: lastContent, Value: []byte(`""`)}}); err != nil || a.err != nil {
		tb.Fatal(err, a.err)
	}
}

func (a *applying) apply() {
	if err := a.tree.Apply(a.op); err != nil {
		a.err = err
	}
}

func (a *applying) one() {
	a.apply()
	a.add(lastContent, oneToken)
}

// folding is a session whose last answer grows.
type folding struct {
	st *harness.State
	e  harness.Event
	merging
}

func newFolding() *folding {
	f := &folding{st: new(harness.State), e: harness.Event{Session: "ses_1", Time: time.Unix(1, 0)}}
	for i := range 500 {
		f.say(&harness.UserMessage{ItemID: harness.ItemID(fmt.Sprint("itm_u", i)), Parts: harness.TextPart("What does this do?")})
		f.turn(i)
		if i < 499 {
			f.end(i)
		}
	}
	return f
}

func (f *folding) say(p harness.Payload) {
	f.e.Seq++
	f.e.Payload = p
	f.st.Apply(f.e)
}

func (f *folding) turn(i int) {
	f.say(&harness.TurnStart{TurnID: harness.TurnID(fmt.Sprint("trn_", i)), ItemID: harness.ItemID(fmt.Sprint("itm_a", i))})
	f.e.Payload = &harness.Token{ItemID: harness.ItemID(fmt.Sprint("itm_a", i)), Text: oneToken}
}

func (f *folding) end(i int) {
	f.say(&harness.TurnEnd{TurnID: harness.TurnID(fmt.Sprint("trn_", i)), Status: harness.TurnCompleted})
}

// clear starts the last answer again.
func (f *folding) clear() {
	f.st.Messages[len(f.st.Messages)-1].Content = harness.Text{}
}

func (f *folding) one() {
	f.e.Seq++
	f.st.Apply(f.e)
	f.add(lastContent, f.e.Payload.(*harness.Token).Text)
}

// encoding makes a frame of one operation, as a watcher that is up to date gets.
func encoding(text string) func() {
	var out object.Pending
	var frame []byte
	return func() {
		out.AppendText(lastContent, text)
		var mark int
		frame, mark = socket.BeginText(frame[:0])
		frame = append(out.AppendJSON(append(frame, `{"type":"delta","seq":12345678,"operations":`...)), '}')
		frame = socket.EndText(frame, mark)
		out.Reset()
	}
}

// BenchmarkOperation is what each delta costs before it is written.
func BenchmarkOperation(b *testing.B) {
	o := operationCosts.get(b, struct{}{}, measureOperations)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(o.path, "path-cpu-ns")
	b.ReportMetric(o.token, "token-cpu-ns")
	b.ReportMetric(o.first, "first-half-cpu-ns")
	b.ReportMetric(o.second, "second-half-cpu-ns")
	b.ReportMetric(o.plain, "encode-cpu-ns")
	b.ReportMetric(o.escape, "encode-escapes-cpu-ns")
	b.ReportMetric(o.applyAllocs, "apply-allocs")
	b.ReportMetric(o.encodeAllocs, "encode-allocs")
}
