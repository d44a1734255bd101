package mcp_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/sandbox/local"
	"harness/tool"
	"harness/tool/mcp"
)

// place is one for all tests, as a program has it.
var place = local.New(nil)

// workspace is a real one, without walls.
func workspace(tb testing.TB) harness.Workspace {
	tb.Helper()
	w, err := place.Open(tb.Context(), harness.WorkspaceSpec{Session: "s", Directory: tb.TempDir(), Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
	return w
}

// ours is a server of servers_test.go.
func ours(tb testing.TB, kind string) mcp.Server {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return mcp.Server{Name: kind, Command: self, Env: map[string]string{"HARNESS_TEST_SERVER": kind}}
}

func open(tb testing.TB, s mcp.Server) *mcp.Client {
	tb.Helper()
	c, err := mcp.Open(tb.Context(), s, workspace(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func find(tb testing.TB, tools []tool.Tool, name string) tool.Tool {
	tb.Helper()
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == name })
	if i < 0 {
		tb.Fatalf("no tool %s among %v", name, names(tools))
	}
	return tools[i]
}

func names(tools []tool.Tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.Spec().Name)
	}
	return all
}

// run calls a tool of the server "good".
func run(tb testing.TB, c *mcp.Client, name, input string) (tool.Result, error) {
	tb.Helper()
	return find(tb, c.Tools(), "mcp__good__"+name).Run(tb.Context(), &tool.Env{}, json.RawMessage(input))
}

func must(tb testing.TB, c *mcp.Client, name, input string) tool.Result {
	tb.Helper()
	r, err := run(tb, c, name, input)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return r
}

func TestACallReachesTheServerAndItsAnswerComesBack(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	if got := must(t, c, "echo", `{"a":[1,"ü"]}`).Text; got != `{"a":[1,"ü"]}` {
		t.Errorf("echo says %s", got)
	}
	if got := must(t, c, "echo", ``).Text; got != `{}` {
		t.Errorf("echo of nothing says %s", got)
	}
}

func TestEveryKindOfContentBecomesSomething(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	r := must(t, c, "mixed", `{}`)
	want := "a text\n[audio, audio/wav, 10 bytes]\n[resource file:///x]\n[resource mem://1]\ninside"
	if r.Text != want || string(r.Data) != `{"n":42}` || len(r.Images) != 1 || r.Images[0].Media != "image/png" || string(r.Images[0].Data) != "\x89PNG" {
		t.Errorf("got %+v, want text %q", r, want)
	}
}

func TestAnErrorOfTheToolIsAnError(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	r, err := run(t, c, "fails", `{}`)
	if err == nil || err.Error() != "no such city" || r.Text != "no such city" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestALargeResultIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	r := must(t, c, "large", `{}`)
	if !strings.HasSuffix(r.Text, "\n[1048576 bytes more were left out]") || len(r.Text) > mcp.MaxResult+64 {
		t.Errorf("%d bytes, ending %q", len(r.Text), r.Text[len(r.Text)-64:])
	}
}

func TestProgressIsShownWhileTheCallRuns(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	lines := make(chan string, 8) // more than the server sends
	env := &tool.Env{Log: func(stream, text string) { lines <- stream + " " + text }}
	if _, err := find(t, c.Tools(), "mcp__good__progress").Run(t.Context(), env, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; got != "progress 1/3 working\n" {
		t.Errorf("first line %q", got)
	}
}

func TestWhatAServerSaysOfItselfCountsOnlyIfItIsTrusted(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{false, true} {
		s := ours(t, "good")
		s.ReadOnly = trusted
		tools := open(t, s).Tools()
		for name, want := range map[string]tool.Plan{
			"echo":   {Access: harness.AccessRead, Keys: []string{"mcp:good"}},
			"append": {Access: harness.AccessExecute},
			"plain":  {Access: harness.AccessExecute, Destructive: true},
		} {
			if !trusted {
				want = tool.Plan{Access: harness.AccessExecute, Destructive: true}
			}
			got, err := find(t, tools, "mcp__good__"+name).Plan(nil, json.RawMessage(`{"x":1}`))
			want.Summary = "good: " + name + ` {"x":1}`
			if a, b := asJSON(got), asJSON(want); err != nil || a != b {
				t.Errorf("trusted %v: plan of %s is %s, want %s (%v)", trusted, name, a, b, err)
			}
		}
	}
}

func TestAllowAndDenyChooseTools(t *testing.T) {
	t.Parallel()
	s := ours(t, "good")
	s.Allow, s.Deny = []string{"e*", "pl?in"}, []string{"env"}
	c := open(t, s)
	if got := names(c.Tools()); !slices.Equal(got, []string{"mcp__good__echo", "mcp__good__plain"}) {
		t.Errorf("tools %v", got)
	}
	if st := c.Status(); st.State != mcp.Ready || st.Tools != 2 || st.Hidden < 5 {
		t.Errorf("status %+v", st)
	}
}

func TestAServerGetsTheWorkspacesEnvironmentAndItsOwn(t *testing.T) {
	t.Setenv("HARNESS_SECRET_OF_OURS", "1")
	s := ours(t, "good")
	s.Env["OWN"] = "yes"
	got := must(t, open(t, s), "env", `{}`).Text
	if !strings.Contains(got, "OWN=yes") || !strings.Contains(got, "HOME=/nonexistent") || strings.Contains(got, "HARNESS_SECRET_OF_OURS") {
		t.Errorf("environment:\n%s", got)
	}
}

func TestTooManyToolsAndTooLargeOnesAreNotOffered(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "many"))
	tools := c.Tools()
	if len(tools) != mcp.MaxTools || c.Status().Hidden != 301-mcp.MaxTools {
		t.Errorf("%d tools, status %+v", len(tools), c.Status())
	}
	for _, tl := range tools {
		if d := tl.Spec().Description; len(d) > mcp.MaxDescription || !strings.HasSuffix(d, "é…") || strings.HasSuffix(tl.Spec().Name, "large") {
			t.Fatalf("%s has a description of %d bytes", tl.Spec().Name, len(d))
		}
	}
}

func TestResourcesAreListedAndRead(t *testing.T) {
	t.Parallel()
	s := ours(t, "good")
	set := mcp.OpenAll(t.Context(), []mcp.Server{s}, workspace(t))
	t.Cleanup(set.Close)
	r := find(t, set.Tools(), "mcp_resources")
	if got, err := r.Run(t.Context(), nil, json.RawMessage(`{}`)); err != nil || got.Text != "good:\n  mem://poem text/plain poem\n" {
		t.Errorf("list: %q, %v", got.Text, err)
	}
	if got, err := r.Run(t.Context(), nil, json.RawMessage(`{"server":"good","uri":"mem://poem"}`)); err != nil || got.Text != "[resource mem://poem]\nroses are red" {
		t.Errorf("read: %q, %v", got.Text, err)
	}
	if _, err := r.Run(t.Context(), nil, json.RawMessage(`{"server":"good","uri":"mem://none"}`)); err == nil {
		t.Error("a resource that is not there was read")
	}
	if _, err := r.Plan(nil, json.RawMessage(`{"server":"other"}`)); err == nil || !strings.Contains(err.Error(), `["good"]`) {
		t.Errorf("another server: %v", err)
	}
	if p, err := r.Plan(nil, json.RawMessage(`{}`)); err != nil || p.Access != harness.AccessExecute {
		t.Errorf("plan %+v, %v", p, err)
	}
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
