package harness_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"harness"
)

// fill gives every field of a struct a value of its own, so that one that is
// lost shows.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" { // the log has no such thing
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"n":[1,"<é>"]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.String:
		v.SetString(strings.Repeat("é<&>\u2028🙂\"", 1+*n%3))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	default:
		panic("a payload has a field of kind " + v.Kind().String())
	}
}

// samples is a full payload of every kind.
func samples() []harness.Payload {
	var list []harness.Payload
	n := 0
	for _, info := range harness.Inventory() {
		p := info.New()
		fill(reflect.ValueOf(p).Elem(), &n)
		list = append(list, p)
	}
	return list
}

func TestEveryKindSurvivesTheLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_999_999, time.FixedZone("x", 3600))
	seen := map[harness.Type]bool{}
	for _, p := range samples() {
		if seen[p.Type()] {
			t.Errorf("%s is in the inventory twice", p.Type())
		}
		seen[p.Type()] = true
		e := harness.NewEvent("ses_x", 17, now, "trn_y", p)
		got, err := harness.DecodeEvent(e.JSON())
		if err != nil {
			t.Errorf("%s: %v", p.Type(), err)
			continue
		}
		if !reflect.DeepEqual(got.Payload, p) {
			t.Errorf("%s: got %+v, want %+v", p.Type(), got.Payload, p)
		}
		if got.Seq != 17 || got.Session != "ses_x" || got.Turn != "trn_y" || !got.Time.Equal(e.Time) || e.Time.Nanosecond() != 678_000_000 {
			t.Errorf("%s: envelope %+v", p.Type(), got)
		}
		again := harness.NewEvent(got.Session, got.Seq, got.Time, got.Turn, got.Payload)
		if !bytes.Equal(again.JSON(), e.JSON()) || bytes.ContainsRune(e.JSON(), '\n') || bytes.Contains(e.JSON(), []byte(`\u003c`)) {
			t.Errorf("%s: encoded\n%s\nand again\n%s", p.Type(), e.JSON(), again.JSON())
		}
		cp, err := harness.CopyPayload(p)
		if err != nil || !reflect.DeepEqual(cp, p) {
			t.Errorf("%s: copied as %+v, %v", p.Type(), cp, err)
		}
	}
}

// The envelope is exactly the design's.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	e := harness.NewEvent("ses_x", 17, time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), "trn_y", &harness.Token{ItemID: "itm_1", Text: "a<b"})
	want := `{"seq":17,"id":"ses_x.17","ts":"2026-01-02T03:04:05.678Z","session_id":"ses_x","turn_id":"trn_y","type":"token","tier":"default","payload":{"item_id":"itm_1","text":"a<b"}}`
	if got := string(e.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What this build does not know survives byte for byte.
func TestUnknownTypesAndFieldsSurvive(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"type":             `{"seq":3,"id":"s.3","ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"from_the_future","tier":"debug","payload":{"b": 1,  "a":[ ]}}`,
		"field of payload": `{"seq":3,"id":"s.3","ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"token","tier":"default","payload":{"text":"x","new":{"deep":1e400}}}`,
		"field":            `{"seq":3,"more":[1,2],"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"token","payload":{"text":"x"}}`,
		"shape of payload": `{"seq":3,"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"token","payload":"just text"}`,
		"no payload":       `{"seq":3,"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"odd"}`,
	} {
		e, err := harness.DecodeEvent([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(e.JSON()) != raw {
			t.Errorf("%s: got %s", name, e.JSON())
		}
		if u, ok := e.Payload.(*harness.Unknown); ok && name == "type" {
			if b, err := json.Marshal(u); err != nil || e.Type() != "from_the_future" || string(u.Raw) != `{"b": 1,  "a":[ ]}` || len(b) == 0 {
				t.Errorf("%s: payload %s, %v", name, b, err)
			}
		}
		new(harness.State).Apply(e)
	}
}

func TestDamagedEnvelopesAreCorrupt(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		``, `{`, `null`, `[]`, `"x"`,
		`{"seq":0,"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"token","payload":{}}`,
		`{"seq":-1,"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"token","payload":{}}`,
		`{"seq":1,"ts":"yesterday","session_id":"s","type":"token","payload":{}}`,
		`{"seq":1,"ts":"2026-01-02T03:04:05.678Z","session_id":"../s","type":"token","payload":{}}`,
		`{"seq":1,"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"","payload":{}}`,
	} {
		if _, err := harness.DecodeEvent([]byte(raw)); !errors.Is(err, harness.ErrCorrupt) {
			t.Errorf("DecodeEvent(%s): %v", raw, err)
		}
	}
	for _, raw := range []string{``, `{`, `[]`, `{"messages":[null]}`, `{"messages":[{"toolCalls":[null]}],"turn":{}}`, `{"messages":5}`} {
		if _, err := harness.DecodeState([]byte(raw)); !errors.Is(err, harness.ErrCorrupt) {
			t.Errorf("DecodeState(%s): %v", raw, err)
		}
	}
}

func TestPayloadThatCannotBeEncodedIsInvalid(t *testing.T) {
	t.Parallel()
	if _, err := harness.CopyPayload(&harness.ToolCall{Arguments: []byte(`{"x`)}); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	p, err := harness.CopyPayload(&harness.Unknown{Name: "turn_end", Raw: []byte(`{"turn_id":"t"}`)})
	if _, ok := p.(*harness.TurnEnd); !ok || err != nil {
		t.Errorf("a forged kind is copied as %T, %v", p, err)
	}
	if p, _ := harness.CopyPayload(&harness.Token{Text: "a\xff\xfeb"}); p.(*harness.Token).Text != "a\ufffd\ufffdb" {
		t.Errorf("text is copied as %q", p.(*harness.Token).Text)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, p := range samples() {
		f.Add(harness.NewEvent("ses_x", 1, time.Unix(0, 0), "trn", p).JSON())
	}
	f.Add([]byte(`{"seq":1,"ts":"2026-01-02T03:04:05.678Z","session_id":"s","type":"x","payload":{"a":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		keep := bytes.Clone(raw)
		e, err := harness.DecodeEvent(raw)
		if err != nil {
			if !errors.Is(err, harness.ErrCorrupt) {
				t.Fatalf("not ErrCorrupt: %v", err)
			}
			return
		}
		if !bytes.Equal(e.JSON(), keep) {
			t.Fatal("the bytes changed")
		}
		if e.Time.Year() > 9999 || e.Time.Year() < 0 {
			return // has no form in RFC 3339
		}
		again, err := harness.DecodeEvent(harness.NewEvent(e.Session, e.Seq, e.Time, e.Turn, e.Payload).JSON())
		if err != nil || again.Type() != e.Type() || again.Seq != e.Seq {
			t.Fatalf("encoded again: %+v, %v", again, err)
		}
	})
}
