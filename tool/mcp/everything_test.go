package mcp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/sandbox/bwrap"
	"harness/tool/mcp"
)

// everything is the reference server of the protocol's makers, from npm.
func everything(tb testing.TB) (server mcp.Server, modules string) {
	tb.Helper()
	modules, err := filepath.Abs("testdata/node/node_modules")
	if err != nil {
		tb.Fatal(err)
	}
	program := filepath.Join(modules, "@modelcontextprotocol/server-everything/dist/index.js")
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		missing(tb, "node or server-everything is not installed: npm ci --prefix tool/mcp/testdata/node")
	}
	return mcp.Server{Name: "everything", Command: node, Args: []string{program, "stdio"}, ReadOnly: true}, modules
}

func missing(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

func TestTheReferenceServerWorks(t *testing.T) {
	t.Parallel()
	server, _ := everything(t)
	tryEverything(t, server, workspace(t))
}

func TestTheReferenceServerWorksInsideNamespaces(t *testing.T) {
	t.Parallel()
	server, modules := everything(t)
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		missing(t, "bubblewrap does not work here: "+err.Error())
	}
	w, err := box.Open(t.Context(), harness.WorkspaceSpec{Session: "s", Directory: t.TempDir(), ReadOnly: []string{filepath.Dir(modules), filepath.Dir(filepath.Dir(server.Command))}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	tryEverything(t, server, w)
}

func tryEverything(t *testing.T, server mcp.Server, w harness.Workspace) {
	set := mcp.OpenAll(t.Context(), []mcp.Server{server}, w)
	defer set.Close()
	if s := set.Status()[0]; s.State != mcp.Ready || s.Tools < 10 || s.Hidden != 0 {
		t.Fatalf("status %+v", s)
	}
	call := func(name, input string) (text, data string, images int) {
		t.Helper()
		r, err := find(t, set.Tools(), name).Run(t.Context(), nil, json.RawMessage(input))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return r.Text, string(r.Data), len(r.Images)
	}
	if text, _, _ := call("mcp__everything__echo", `{"message":"grüße"}`); text != "Echo: grüße" {
		t.Errorf("echo: %s", text)
	}
	if text, _, _ := call("mcp__everything__get-sum", `{"a":40,"b":2}`); !strings.Contains(text, "42") {
		t.Errorf("sum: %s", text)
	}
	if _, _, images := call("mcp__everything__get-tiny-image", `{}`); images != 1 {
		t.Errorf("%d images", images)
	}
	if _, data, _ := call("mcp__everything__get-structured-content", `{"location":"Chicago"}`); !strings.Contains(data, `"temperature":`) {
		t.Errorf("structured: %s", data)
	}
	list, _, _ := call("mcp_resources", `{}`)
	uri := strings.Fields(strings.Split(list, "\n")[1])[0]
	if text, _, _ := call("mcp_resources", `{"server":"everything","uri":"`+uri+`"}`); !strings.HasPrefix(text, "[resource "+uri+"]\n") {
		t.Errorf("resource %s: %s", uri, text)
	}
	if _, err := find(t, set.Tools(), "mcp__everything__get-sum").Run(t.Context(), nil, json.RawMessage(`{"a":"x"}`)); err == nil || !strings.Contains(err.Error(), "expected number") {
		t.Errorf("a wrong argument: %v", err)
	}
	if p, err := find(t, set.Tools(), "mcp__everything__get-sum").Plan(nil, nil); err != nil || p.Access != harness.AccessRead {
		t.Errorf("plan %+v, %v", p, err)
	}
}
