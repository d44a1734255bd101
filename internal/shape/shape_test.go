package shape_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"harness/internal/shape"
)

type (
	inner struct {
		Name string `json:"name" rule:"required max=3"`
	}
	common struct {
		Kind string `json:"kind" rule:"words=a|b"`
	}
	taken struct {
		ID    string  `json:"id" rule:"required id"`
		Count *int64  `json:"count" rule:"min=1 max=9"`
		Wide  bool    `json:"wide"`
		One   *inner  `json:"one"`
		Many  []inner `json:"many"`
		common
	}
	sent struct {
		common
		When   time.Time       `json:"when"`
		Cost   *float64        `json:"cost"`
		Note   string          `json:"note,omitempty"`
		Any    json.RawMessage `json:"any"`
		Hidden string          `json:"-"`
		secret int
	}
)

var plan = shape.PlanOf(reflect.TypeFor[taken]())

// Every rule is checked, and what breaks one is named by its path.
func TestWhatBreaksARuleIsNamed(t *testing.T) {
	t.Parallel()
	for raw, field := range map[string]string{
		`{}`:                      "id",
		`{"id":""}`:               "id",
		`{"id":7}`:                "id",
		`{"id":"a/b"}`:            "id",
		`{"id":"x","count":0}`:    "count",
		`{"id":"x","count":10}`:   "count",
		`{"id":"x","count":1.5}`:  "count",
		`{"id":"x","count":null}`: "count",
		`{"id":"x","wide":"yes"}`: "wide",
		`{"id":"x","one":[]}`:     "one",
		`{"id":"x","one":{}}`:     "one.name",
		`{"id":"x","many":{}}`:    "many",
		`{"id":"x","many":[{"name":"abc"},{"name":"abcd"}]}`: "many[1].name",
		`{"id":"x","many":[3]}`:                              "many[0]",
		`{"id":"x","kind":"c"}`:                              "kind",
	} {
		if w := plan.Read([]byte(raw), new(taken)); w == nil || w.Field != field || w.Why == "" {
			t.Errorf("%s: %+v, want %s", raw, w, field)
		}
	}
	var got taken
	if w := plan.Read([]byte(`{ "x" : [{}] , "id":"a","count" : 9,"wide":true,"one":{"name":"n"},"many":[ {"name":"m"} ],"kind":"b"}`), &got); w != nil {
		t.Fatalf("%+v", w)
	}
	if want := (taken{"a", new(int64(9)), true, &inner{"n"}, []inner{{"m"}}, common{"b"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Texts by name, as in a query, follow the same rules.
func TestTextsFollowTheSameRules(t *testing.T) {
	t.Parallel()
	type query struct {
		ID    string `json:"id" rule:"required id"`
		Count *int64 `json:"count" rule:"min=1 max=9"`
		Wide  bool   `json:"wide"`
		common
	}
	p := shape.PlanOf(reflect.TypeFor[query]())
	read := func(pairs ...string) (query, *shape.Wrong) {
		var q query
		w := p.Values(func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}, &q)
		return q, w
	}
	for _, c := range [][]string{
		{"id"}, {"id", "id", ""}, {"id", "id", "a/b"}, {"count", "id", "x", "count", "ten"}, {"count", "id", "x", "count", ""}, {"count", "id", "x", "count", "10"},
		{"wide", "id", "x", "wide", "t"}, {"wide", "id", "x", "wide", ""}, {"kind", "id", "x", "kind", "c"},
	} {
		if _, w := read(c[1:]...); w == nil || w.Field != c[0] {
			t.Errorf("%v: %+v", c, w)
		}
	}
	got, w := read("id", "x", "count", "3", "wide", "true", "kind", "a")
	if want := (query{"x", new(int64(3)), true, common{"a"}}); w != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %+v", got, w)
	}
}

// A schema says what the plan checks, and what Go sends.
func TestASchemaSaysWhatIsReadAndSent(t *testing.T) {
	t.Parallel()
	set := &shape.Set{Named: map[string]*shape.Type{}}
	w := shape.Schema{Refs: "#/x/"}
	read, _ := json.Marshal(w.Declare(set.Taken(reflect.TypeFor[taken](), plan)))
	for _, want := range []string{`"required":["id"]`, `"count":{"maximum":9,"minimum":1,"type":"integer"}`, `"kind":{"enum":["a","b"],"type":"string"}`, `"many":{"items":{"$ref":"#/x/Inner"},"type":"array"}`} {
		if !strings.Contains(string(read), want) {
			t.Errorf("no %s in %s", want, read)
		}
	}
	said, _ := json.Marshal(w.Declare(set.Sent(reflect.TypeFor[sent]())))
	for _, want := range []string{`"required":["kind","when","cost","any"]`, `"cost":{"type":["number","null"]}`, `"when":{"format":"date-time","type":"string"}`, `"any":{}`} {
		if !strings.Contains(string(said), want) {
			t.Errorf("no %s in %s", want, said)
		}
	}
	if strings.Contains(string(said), "idden") || strings.Contains(string(said), "secret") {
		t.Errorf("too much: %s", said)
	}
	_ = sent{secret: 0}
}

// Any valid object is read or refused with a field; none panics, and what is
// accepted is within its rules.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{}`, `{"id":"x","many":[{"name":"a"}]}`, `{"id":"\u0041","count":5,"one":{"name":"n","x":[1,{"a":"}"}]}}`, `{"id":"x","id":"y"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = []byte(strings.TrimSpace(string(raw)))
		if !json.Valid(raw) || raw[0] != '{' {
			return
		}
		var got taken
		if w := plan.Read(raw, &got); w != nil {
			if w.Field == "" {
				t.Fatalf("%s: refused without a field: %+v", raw, w)
			}
			return
		}
		if got.ID == "" || got.Count != nil && (*got.Count < 1 || *got.Count > 9) || got.One != nil && len(got.One.Name) > 3 {
			t.Fatalf("%s: %+v", raw, got)
		}
		var theirs struct {
			ID   string `json:"id"`
			Wide bool   `json:"wide"`
		}
		if json.Unmarshal(raw, &theirs) == nil && exact(raw) && (theirs.ID != got.ID || theirs.Wide != got.Wide) {
			t.Fatalf("%s: we read %q, encoding/json %q", raw, got.ID, theirs.ID)
		}
	})
}

// exact reports whether encoding/json, which ignores the case of keys, can be
// compared with.
func exact(raw []byte) bool {
	for key := range shape.Members(raw) {
		for _, name := range []string{"id", "wide"} {
			if key != name && strings.EqualFold(key, name) {
				return false
			}
		}
	}
	return true
}
