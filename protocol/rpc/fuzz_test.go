package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"harness/internal/strict"
	"harness/protocol/rpc"
)

// Any bytes: exactly one answer per request, none per notification, one array
// per batch, and nothing but lines of JSON.
func FuzzServe(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n",
		`[{"jsonrpc":"2.0","id":1,"method":"thread.list"},{"jsonrpc":"2.0","method":"thread.create"},1]` + "\r\n\n" + `{"jsonrpc":"2.0","id":"x","method":"none"}`,
		`{"jsonrpc":"2.0","id":null,"method":"thread.get","params":{"threadId":"ses_1","after":1e9}}` + "\n{\n[]\n[[]]\n",
		`{"jsonrpc":"2.0","id":1.5e3,"method":"turn.start","params":{"threadId":"a","input":[{"type":"file","url":"\ud800"}]}}`,
		"\x00\n\xff\n\"\\\n{\"\\u0069d\":1}\n[{},\n",
		`{"jsonrpc":"2.0","method":"thread.create","id":2,"params":{"title":"t","title":1}}` + "\n",
	} {
		f.Add([]byte(s))
	}
	sv := serve(f, "echo")
	f.Fuzz(func(t *testing.T, in []byte) {
		answers := map[bool]int{} // batch or not
		for line := range bytes.Lines(in) {
			n, batch := rpc.Parse(line)
			if batch {
				n = min(n, 1)
			}
			answers[batch] += n
		}
		var out bytes.Buffer
		if err := rpc.Serve(context.Background(), sv.k, bytes.NewReader(in), &out, nil); err != nil {
			t.Fatal(err)
		}
		got := map[bool]int{}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
				t.Fatalf("not a line of JSON: %q", line)
			}
			if !strings.HasPrefix(line, `{"jsonrpc":"2.0","method":`) {
				got[line[0] == '[']++
			}
		}
		if got[true] != answers[true] || got[false] != answers[false] {
			t.Fatalf("%d answers and %d arrays, want %d and %d\n%s", got[false], got[true], answers[false], answers[true], out.String())
		}
	})
}

// The parser agrees with encoding/json about what is a request, of lines that
// have one meaning only.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":[1,{"b":"\""}]}`))
	f.Add([]byte(`[{"jsonrpc" : "2.0" , "id":"\\" , "method":"a"},{"method":"\u0061"},[],{}]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		line := bytes.Trim(in, " \t\r\n")
		got, batch := rpc.Parse(line)
		if len(line) == 0 || strict.Check(line, 4<<20) != nil {
			if len(line) > 0 && (got != 1 || batch) {
				t.Fatalf("%q: %d answers, batch %v", line, got, batch)
			}
			return
		}
		list := []json.RawMessage{line}
		if batch {
			if err := json.Unmarshal(line, &list); err != nil {
				t.Fatal(err)
			}
		} else if line[0] == '[' {
			return // refused as a whole
		}
		want := 0
		for _, raw := range list {
			var r map[string]json.RawMessage
			var s string
			good := json.Unmarshal(raw, &r) == nil && r != nil && json.Unmarshal(r["jsonrpc"], &s) == nil && s == "2.0" && string(r["jsonrpc"]) != "null"
			good = good && json.Unmarshal(r["method"], &s) == nil && string(r["method"]) != "null"
			if p := r["params"]; good && p != nil {
				good = p[0] == '{' || p[0] == '['
			}
			if _, hasID := r["id"]; !good || hasID {
				want++
			}
		}
		if got != want {
			t.Fatalf("%q: %d answers, want %d", line, got, want)
		}
	})
}
