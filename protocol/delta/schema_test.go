package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/internal/object"
)

// The committed description is that of the code. UPDATE=1 rewrites it.
func TestTheDescriptionIsUpToDate(t *testing.T) {
	t.Parallel()
	golden(t, "../../docs/protocols/websocket.schema.json", Schema())
}

func golden(t *testing.T, name string, want []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs from the code (%v); run with UPDATE=1", name, err)
	}
}

// What the hub writes by hand is what the described structs say: nothing more,
// nothing less, and every member of them occurs.
func TestFramesAreAsDescribed(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for s := range uint64(30) {
		a := newAuthor(11, s, 0)
		for range 80 {
			if a.next(); a.st.Seq%2 == 0 {
				asDescribed[stateMessage](t, appendState(nil, &a.st, nil, min(int(s%3), a.st.Count())), met)
			}
		}
	}
	files := []harness.RewoundFile{{Path: "a", Insertions: 1, Deletions: 2, Binary: true, Reason: "r"}}
	rewound := &harness.State{Session: "ses_a", Lacks: &harness.Lacks{Commands: []string{"steer"}, Settings: []string{"max_turns"}}, Rewound: &harness.Rewound{
		MessageID: "itm_1", DryRun: true, FilesChanged: []string{"a"}, Insertions: 1, Deletions: 2, Conflicts: []string{"b"},
		Restore: files, Delete: files, Conflict: files, Skipped: files, Failed: files, Omitted: 3, Error: "e", Force: true, ItemID: "itm_2", Safety: "s", ClientKey: "k",
	}}
	asDescribed[stateMessage](t, appendState(nil, rewound, nil, 0), met)
	failed := &harness.State{Session: "ses_a", Status: harness.StatusFailed, Error: "broken"}
	asDescribed[stateMessage](t, appendState(nil, failed, nil, 0), met)
	hidden := &harness.State{Session: "ses_a", Pending: []harness.Approval{{ID: "ap_1", Call: "c1", Tool: "bash", Redacted: true}}}
	asDescribed[stateMessage](t, appendState(nil, hidden, nil, 0), met)
	for _, id := range []string{"", "c1"} {
		asDescribed[errorMessage](t, appendError(nil, id, harness.ErrBusy), met)
	}
	asDescribed[ackMessage](t, appendAck(nil, "c1", 7), met)
	asDescribed[heartbeatMessage](t, appendHeartbeat(nil, 7, time.Unix(1, 0)), met)
	var out object.Pending
	out.SetText([]string{"status"}, "idle")
	out.AppendText([]string{"messages", "0", "content"}, "x")
	frame := appendDelta(nil, 3, &out)
	asDescribed[deltaMessage](t, frame, met)
	var d deltaMessage
	if err := json.Unmarshal(frame, &d); err != nil {
		t.Fatal(err)
	}
	asDescribed[setOperation](t, d.Operations[0], met)
	asDescribed[appendTextOperation](t, d.Operations[1], met)
	for _, u := range unions[:2] {
		for _, m := range u.members {
			everyMember(m, "", func(name string) {
				if !met[name] {
					t.Errorf("%s is described and was never written", name)
				}
			})
		}
	}
}

// asDescribed reads a frame into T, which must know all of it, and writes it
// again, which must give the same.
func asDescribed[T any](t *testing.T, frame []byte, met map[string]bool) {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(frame))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.2000s", err, frame)
	}
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	got := anyJSON(t, frame)
	if !reflect.DeepEqual(got, anyJSON(t, again)) {
		t.Fatalf("written\n%.2000s\ndescribed\n%.2000s", frame, again)
	}
	everyMember(reflect.TypeFor[T](), "", func(name string) {
		if met[name] {
			return
		}
		at := []any{got}
		for _, key := range strings.Split(name, ".")[1:] {
			var next []any
			for _, v := range at {
				if list, ok := v.([]any); ok {
					for _, e := range list {
						if o, ok := e.(map[string]any); ok && o[key] != nil {
							next = append(next, o[key])
						}
					}
				} else if o, ok := v.(map[string]any); ok && o[key] != nil {
					next = append(next, o[key])
				}
			}
			at = slices.Clip(next)
		}
		met[name] = len(at) > 0
	})
}

// anyJSON reads numbers of any size.
func anyJSON(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// everyMember yields the dotted names of a struct's members, those of the
// structs in it included.
func everyMember(t reflect.Type, path string, yield func(string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[harness.Text]() {
		return
	}
	if path == "" {
		path = t.Name()
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		yield(path + "." + name)
		everyMember(t.Field(i).Type, path+"."+name, yield)
	}
}

// Each command is described; with all its members it is accepted, without one
// that is required it is not, and the words it may hold are those that are read.
func TestCommandsAreAsDescribed(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for _, typ := range unions[2].members {
		full := map[string]any{}
		fill(full, typ)
		described[full["type"].(string)] = true
		if err := tryCommand(full); err != nil {
			t.Errorf("%v is refused: %v", full, err)
		}
		for i := range typ.NumField() {
			name, rest, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			less := maps.Clone(full)
			delete(less, name)
			err := tryCommand(less)
			if optional := rest != ""; optional != (err == nil) {
				t.Errorf("%s without %s, optional %v: %v", full["type"], name, optional, err)
			}
			less[name] = map[bool]any{true: 1, false: "x"}[typ.Field(i).Type.Kind() == reflect.String]
			if tryCommand(less) == nil {
				t.Errorf("%s does not look at %s", full["type"], name)
			}
		}
	}
	for name := range commands {
		if !described[name] {
			t.Errorf("the command %s is read and not described", name)
		}
	}
	config := reflect.TypeFor[configuration]()
	for name, words := range map[string][]string{"PermissionMode": slices.Collect(maps.Keys(modes)), "Effort": slices.Collect(maps.Keys(efforts))} {
		f, _ := config.FieldByName(name)
		got := strings.Split(strings.TrimPrefix(f.Tag.Get("rule"), "words="), "|")
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(words))) {
			t.Errorf("%s is described as %v, read are %v", name, got, words)
		}
	}
}

// fill gives every member of a command a value.
func fill(into map[string]any, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		word, _, _ := strings.Cut(strings.TrimPrefix(f.Tag.Get("rule"), "words="), "|")
		switch {
		case word != "":
			into[name] = word
		case f.Type.Kind() == reflect.Struct:
			inner := map[string]any{}
			fill(inner, f.Type)
			into[name] = inner
		case f.Type.Kind() == reflect.Bool:
			into[name] = true
		case f.Type.Kind() == reflect.Int:
			into[name] = 3
		default:
			into[name] = "ses_1"
		}
	}
}

func tryCommand(c map[string]any) error {
	b, err := json.Marshal(map[string]any{"type": "commands", "commands": []any{c}})
	if err != nil {
		return err
	}
	got, err := decode(b)
	if err == nil && len(got) != 1 {
		err = errors.New(fmt.Sprint(len(got), " commands"))
	}
	return err
}
