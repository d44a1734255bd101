package object_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"harness/internal/object"
)

func TestOperationsHaveTheFormOfTheSpecification(t *testing.T) {
	for _, c := range []struct {
		op   object.Op
		want string
	}{
		{object.Op{Kind: object.Set, Path: []string{"status"}, Value: json.RawMessage(`"running"`)}, `{"type":"set","path":["status"],"value":"running"}`},
		{object.Op{Kind: object.AppendText, Path: []string{"messages", "0", "content"}, Text: " world"}, `{"type":"append-text","path":["messages","0","content"],"value":" world"}`},
		{object.Op{Kind: object.Set, Path: []string{}, Value: json.RawMessage(`null`)}, `{"type":"set","path":[],"value":null}`},
		{object.Op{Kind: object.AppendText, Path: []string{"a\"b"}, Text: "\u2028<&\x01"}, `{"type":"append-text","path":["a\"b"],"value":"` + "\u2028" + `<&\u0001"}`},
	} {
		if got := string(c.op.AppendJSON(nil)); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
		var back object.Op
		if err := json.Unmarshal([]byte(c.want), &back); err != nil || !reflect.DeepEqual(back, c.op) {
			t.Errorf("%s reads back as %+v (%v)", c.want, back, err)
		}
		var enc object.Encoder
		if c.op.Kind == object.AppendText {
			for range 2 {
				if got := string(enc.AppendText(nil, c.op.Path, c.op.Text)); got != c.want {
					t.Errorf("Encoder: got %s\nwant %s", got, c.want)
				}
			}
		}
	}
}

func TestEncoderFollowsAChangingPath(t *testing.T) {
	var enc object.Encoder
	path := []string{"a", "b"}
	for _, seg := range []string{"b", "c", "c", "b"} {
		path[1] = seg
		op := object.Op{Kind: object.AppendText, Path: path, Text: "x"}
		if got, want := string(enc.AppendText(nil, path, "x")), string(op.AppendJSON(nil)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got, want := string(enc.AppendText(nil, nil, "x")), `{"type":"append-text","path":[],"value":"x"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEncodingTextAllocatesNothing(t *testing.T) {
	var enc object.Encoder
	op := object.Op{Kind: object.AppendText, Path: usual, Text: usualText}
	dst := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		dst = enc.AppendText(dst[:0], usual, "é\n"+usualText)
		dst = op.AppendJSON(dst)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNormalizeMakesValuesSafeToSend(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		err       error
	}{
		{" { \"b\" : [ 1.50 , -0e1 ] ,\n\"a\":null } ", `{"b":[1.50,-0e1],"a":null}`, nil},
		{`"\ud83d\ude00 \ud83d \ude00\ud83d\ud83d\ude00"`, `"😀 ` + "\uFFFD \uFFFD\uFFFD" + `😀"`, nil},
		{"\"\xff\xf0\x9f\"", "\"\uFFFD\uFFFD\uFFFD\"", nil},
		{`"\u00e9\/\b\f<\u2028"`, `"é/\b\f<` + "\u2028" + `"`, nil},
		{`{"a":1,"\u0061":2}`, `{"a":2}`, nil},
		{`{"x":[{"__proto__":{}}]}`, "", object.ErrUnsafe},
		{`{"a":1,}`, "", object.ErrValue}, {`[1 2]`, "", object.ErrValue}, {`01`, "", object.ErrValue},
		{``, "", object.ErrValue}, {`"`, "", object.ErrValue}, {`"\u12"`, "", object.ErrValue}, {`"\x"`, "", object.ErrValue},
		{"\"\n\"", "", object.ErrValue}, {`nul`, "", object.ErrValue}, {`{} {}`, "", object.ErrValue}, {`"\`, "", object.ErrValue},
	} {
		got, err := object.Normalize([]byte(c.raw))
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q\n got %s (%v)\nwant %s (%v)", c.raw, got, err, c.want, c.err)
		}
	}
}

func TestSplitValidHoldsBackOnlyWhatCanStillBecomeACharacter(t *testing.T) {
	for _, c := range []struct{ in, valid, rest string }{
		{"", "", ""}, {"abc", "abc", ""}, {"aé", "aé", ""}, {"a\xc3", "a", "\xc3"},
		{"\xf0\x9f\x98", "", "\xf0\x9f\x98"}, {"x\xf0\x9f", "x", "\xf0\x9f"}, {"😀\xe2\x82", "😀", "\xe2\x82"},
		{"a\xff", "a\xff", ""}, {"\xe0\x80", "\xe0\x80", ""}, {"\x80\x80\x80\x80", "\x80\x80\x80\x80", ""},
	} {
		valid, rest := object.SplitValid([]byte(c.in))
		if string(valid) != c.valid || string(rest) != c.rest {
			t.Errorf("%q: %q and %q, want %q and %q", c.in, valid, rest, c.valid, c.rest)
		}
	}
}
