package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"harness"
)

// told has the page read these events as every session's log.
const told = `(() => {
  const real = fetch;
  window.fetch = async (...args) => (/^\/sessions\/\w+\/events$/.test(new URL(args[0]?.url ?? args[0], location.href).pathname) ? Response.json({ events: %s }) : real(...args));
})()`

// TestTheReducerHandlesEveryEvent: the page is told of one event of each type
// that GET /stream-events lists, with all that it may carry, and has words for
// it. What it does not know is shown as it is.
func TestTheReducerHandlesEveryEvent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	payloads := map[harness.Type]harness.Payload{"from_the_future": &harness.Unknown{Name: "from_the_future", Raw: []byte(`{"said":"so"}`)}}
	for _, info := range harness.Inventory() {
		p := info.New()
		fill(reflect.ValueOf(p).Elem())
		payloads[info.Type] = p
	}
	id := h.session("Every event", "count to 50", nil)
	h.until(id, "an end, behind as many events", func(r row) bool { return idle(r) && r.Seq > len(payloads) })
	var detail struct{ Health json.RawMessage }
	h.call("GET", "/sessions/"+id, nil, &detail)
	payloads["health_snapshot"] = &harness.HealthSnapshot{RawMessage: detail.Health}
	var served struct{ Events []struct{ Type harness.Type } }
	h.call("GET", "/stream-events", nil, &served)
	types := []harness.Type{"from_the_future"}
	for _, e := range served.Events {
		types = append(types, e.Type)
	}
	var log []string
	for i, kind := range types {
		if payloads[kind] == nil {
			t.Fatalf("the server tells of %s, which nobody can make", kind)
		}
		log = append(log, string(harness.NewEvent("ses_x", harness.Seq(i+1), time.Now(), "trn_x", payloads[kind]).JSON()))
	}
	p := h.visit(t, "/")
	p.onEveryPage(fmt.Sprintf(told, "["+strings.Join(log, ",")+"]"))
	p.do("a high window", chromedp.EmulateViewport(1360, 2400))
	p.goTo("/s/" + id + "/timeline")
	p.until(fmt.Sprintf(`document.querySelectorAll('[role="row"][data-seq]').length === %d`, len(types)))
	rows := eval[[][]string](p, `[...document.querySelectorAll('[role="row"][data-seq]')].map((r) => [...r.querySelectorAll('[role="gridcell"]')].map((c) => c.innerText)).map((c) => [c[2], c[3]])`)
	if want := []string{"from_the_future", `{"said":"so"}`}; !slices.Equal(rows[0], want) {
		t.Errorf("what nobody knows is shown as %q, not %q", rows[0], want)
	}
	for i, kind := range types[1:] {
		if got := rows[i+1]; got[0] != string(kind) || got[1] == "" || strings.HasPrefix(got[1], "{") {
			t.Errorf("%s is shown as %q", kind, got)
		}
	}
}

// fill puts something into every field that a log has.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"command":"said"}`))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Now()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.Tag.Get("json") != "-" {
				fill(field)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("said")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		panic("a payload has a field of kind " + v.Kind().String())
	}
}

// TestTheReducerHandlesExactlyTheInventory compares the console's table of
// events with what the server says under GET /stream-events.
func TestTheReducerHandlesExactlyTheInventory(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../src/data/kinds.ts")
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \{ lane: `).FindAllStringSubmatch(string(source), -1) {
		have = append(have, m[1])
	}
	var served struct {
		Events []struct{ Type string }
	}
	newHouse(t).call("GET", "/stream-events", nil, &served)
	for _, e := range served.Events {
		want = append(want, e.Type)
	}
	slices.Sort(have)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(have, want) {
		t.Errorf("the console knows %q,\nthe server tells of %q", have, want)
	}
}
