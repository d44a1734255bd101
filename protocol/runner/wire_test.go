package runner_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"harness"
	"harness/protocol/runner"
)

// fill puts something into every field that can hold it.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(json.RawMessage(`{"a":["<&>",1.5]}`)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.String:
		v.SetString("x\n<&>\u2028\"")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// An engine in a runner loses nothing of what it says.
func TestEveryFactOfTheInventorySurvivesTheWire(t *testing.T) {
	t.Parallel()
	told := 0
	for _, info := range harness.Inventory() {
		p := info.New()
		if harness.Reserved(p) {
			continue
		}
		fill(reflect.ValueOf(p).Elem(), 0)
		if o, ok := p.(*harness.ToolOutcome); ok {
			o.OutcomeType = harness.OutcomeType(o.Status) // it follows from the status
		}
		want, err := harness.CopyPayload(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := runner.RoundTrip(p)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", info.Type, got, err, want)
		}
		told++
	}
	unknown := &harness.Unknown{Name: "of_tomorrow", Raw: json.RawMessage(`{"a":1}`)}
	if got, err := runner.RoundTrip(unknown); err != nil || !reflect.DeepEqual(got, unknown) {
		t.Errorf("got %+v, %v; want %+v", got, err, unknown)
	}
	if told < 15 {
		t.Errorf("only %d kinds were told", told)
	}
}

func TestTheReaderOfEventsTakesWhatTheStandardAllowsAndNoMore(t *testing.T) {
	t.Parallel()
	delta := `{"type":"assistant.delta","text":"hi"}`
	for _, c := range []struct {
		name, in string
		want     runner.Frame
		fault    bool
	}{
		{"S2", "event: assistant.delta\ndata: " + delta + "\n\n", runner.Frame{Type: runner.Delta, Text: "hi"}, false},
		{"CRLF, comments, no space, id", ": ping\r\n\r\nid:7\r\nevent:assistant.delta\r\nretry: 9\r\ndata:" + delta + "\r\n\r\n", runner.Frame{ID: 7, Type: runner.Delta, Text: "hi"}, false},
		{"several data lines", "data: {\"type\":\ndata: \"assistant.delta\",\"text\":\"hi\"}\n\n", runner.Frame{Type: runner.Delta, Text: "hi"}, false},
		{"no event field", "data: " + delta + "\n\n", runner.Frame{Type: runner.Delta, Text: "hi"}, false},
		{"two types", "event: run.completed\ndata: " + delta + "\n\n", runner.Frame{}, true},
		{"no JSON", "event: assistant.delta\ndata: hello\n\n", runner.Frame{}, true},
		{"no type", "data: {}\n\n", runner.Frame{}, true},
		{"wrong id", "id: -1\ndata: " + delta + "\n\n", runner.Frame{}, true},
		{"id 0", "id: 0\ndata: " + delta + "\n\n", runner.Frame{}, true},
		{"a line without end", strings.Repeat("x", runner.MaxFrame+1), runner.Frame{}, true},
		{"comments without end", strings.Repeat(":"+strings.Repeat("x", 1<<20)+"\n", 9), runner.Frame{}, true},
	} {
		got, err := runner.Read([]byte(c.in)).Next()
		if _, fault := errors.AsType[*runner.FaultError](err); fault != c.fault || !c.fault && (err != nil || !reflect.DeepEqual(got, c.want)) {
			t.Errorf("%s: got %+v, %v; want %+v, fault %t", c.name, got, err, c.want, c.fault)
		}
	}
	if _, err := runner.Read([]byte("event: assistant.delta\ndata: " + delta + "\n")).Next(); !errors.Is(err, io.EOF) {
		t.Errorf("an event that is cut off: %v", err)
	}
}

func TestTheGuardLetsOnlyTheConfiguredRunnerThrough(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"file:///etc/passwd", "ftp://a.example", "http://169.254.169.254", "https://169.254.169.254", "http://10.0.0.1", "http://a.example", "http://[::ffff:127.0.0.1]",
		"https://[::ffff:10.0.0.1]", "http://user:pw@127.0.0.1", "https://a.example/?x=1", "https://a.example/#x", "http://", "https://0.0.0.0", "https://224.0.0.1", "https://[fe80::1]", "unix:/x", "",
	} {
		if _, err := runner.NewClient(address, ""); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("%s: %v", address, err)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("a password is in %v", err)
		}
	}
	for _, c := range []struct {
		address string
		dials   []string // the last is refused
	}{
		{"https://a.example", []string{"93.184.216.34:443", "93.184.216.35:443", "10.0.0.1:443"}}, // public, then private
		{"https://a.example", []string{"93.184.216.34:443", "127.0.0.1:443"}},
		{"https://a.example", []string{"169.254.169.254:443"}},
		{"https://a.example", []string{"10.0.0.1:443", "93.184.216.34:443"}},
		{"https://a.example", []string{"127.0.0.1:443"}},
		{"http://localhost:1", []string{"127.0.0.1:1", "[::1]:1", "10.0.0.1:1"}},
		{"http://127.0.0.1:1", []string{"127.0.0.1:1", "[fe80::1]:1"}},
	} {
		connect, err := runner.Guard(c.address)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range c.dials {
			err := connect(at)
			if last := i == len(c.dials)-1; last != errors.Is(err, harness.ErrForbidden) {
				t.Errorf("%s: connection %d to %s: %v", c.address, i, at, err)
			}
		}
	}
}
