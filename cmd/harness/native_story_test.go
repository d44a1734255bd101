package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inventoryScript has what the model does in each story.
const inventoryScript = `
when user "about to be shortened"
  say They told a story.
when user "below, please"
  say Done below.
when user "think"
  think Let me see.
  say I saw.
when user "batch" and step 1
  call read {"path":"notes.md"}
  call grep {"pattern":"invoices"}
when user "mend" and step 1
  call read {"path":"notes.md","offset":"1"}
when user "log" and step 1
  call bash {"command":"echo live"}
when user "reflect" and step 1
  call bash {"command":"exit 1"}
when user "reflect" and step 2
  call bash {"command":"exit 2"}
when user "fill"
  usage in=150000 out=10
  say Full.
when user "steps" and step 1
  call plan {"steps":[{"id":"a","title":"Look","status":"completed"}]}
when user "search" and step 1
  call local_search {"query":"rounding of invoices"}
when user "ask" and step 1
  call bash {"command":"echo asked"}
when user "long" and step 1
  call bash {"command":"seq 1 20000"}
when user "delegate" and step 1
  call task {"description":"part","prompt":"below, please"}
when user "write" and step 1
  call write {"path":"new.txt","content":"new\n"}
when user "busy" and model claude
  status 529 busy
when user "refused"
  status 401 no
else
  say Done.
`

// story is what happens, and which kinds of events it is told for.
type story struct {
	kinds string
	mode  string // permission mode; full_auto if empty
	turns []string
	then  func(t *testing.T, s *nativeServer, id string) // after the turns
}

// inventoryStories has a story for each kind of the inventory, made by the
// native engine in the real server; the kernel's own kinds are in the same
// stories, as nothing else makes them.
var inventoryStories = []story{
	{kinds: "user_message session_state turn_start turn_start_tools token response usage antahkarana completed turn_end", turns: []string{"hello"}},
	{kinds: "sandbox_notice hook_event tool_selected", turns: []string{"hello"}},
	{kinds: "thinking", turns: []string{"think"}},
	{kinds: "tool_call tool_result tool_outcome tool_batch policy_decision", turns: []string{"batch"}},
	{kinds: "tool_validation_error", turns: []string{"mend"}},
	{kinds: "tool_log", turns: []string{"log"}},
	{kinds: "reflection", turns: []string{"reflect"}},
	{kinds: "context_warning", turns: []string{"fill", "hello"}},
	{kinds: "context_compacted", turns: []string{"hello", "hello again", "/compact"}},
	{kinds: "step_progress session_checkpoint", turns: []string{"steps"}},
	{kinds: "retrieval", turns: []string{"search"}},
	{kinds: "approval_required approval_applied", mode: "normal", turns: []string{"ask"}},
	{kinds: "artifact", turns: []string{"long"}},
	{kinds: "subagent_event", turns: []string{"delegate"}},
	{kinds: "transport_diagnostic", turns: []string{"busy"}},
	{kinds: "error", turns: []string{"refused"}},
	{kinds: "rewind", turns: []string{"write"}, then: takeBack},
}

// takeBack rewinds the files of a session to its first message.
func takeBack(t *testing.T, s *nativeServer, id string) {
	message := of(s.log(t, id), "user_message")[0].id("item_id")
	s.post(t, "/sessions/"+id+"/rewind", fmt.Appendf(nil, `{"message_id":%q}`, message))
	if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err == nil {
		t.Error("the file is still there")
	}
}

// A server of MCP in a shell: twenty tools that answer what they are.
const shellServer = `while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
  *'"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[' $id
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do printf '{"name":"unrelated_%s","description":"Something else.","inputSchema":{"type":"object"}},' $n; done
    echo '{"name":"last","description":"The last.","inputSchema":{"type":"object"}}]}}' ;;
  *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"from the shell"}]}}' ;;
  *'"id":'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no such method"}}' ;;
  esac
done
`

// servers writes a file for --mcp, and the programs of the servers that are
// shell scripts into the workspace, where a sandbox lets them be read.
func servers(t *testing.T, dir string, scripts map[string]string) string {
	t.Helper()
	list := map[string]any{}
	for name, script := range scripts {
		path := filepath.Join(dir, name+".mcp.sh")
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		list[name] = map[string]any{"command": "/bin/sh", "args": []string{path}}
	}
	return jsonFile(t, map[string]any{"mcpServers": list})
}

func jsonFile(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the stories produce is the whole inventory: nothing is promised at
// /stream-events that nobody makes.
func TestEveryEventOfTheInventoryHasAStory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.md"), []byte("Rounding of invoices is half to even.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startNative(t, inventoryScript, "--mcp", servers(t, dir, map[string]string{"sh": shellServer}),
		"--hooks", jsonFile(t, map[string]any{"hooks": []any{map[string]string{"on": "turn_start", "command": "true"}}}), "--cwd", dir)
	s.dir = dir
	told := map[string]bool{}
	for _, st := range inventoryStories {
		mode := st.mode
		if mode == "" {
			mode = "full_auto"
		}
		id := s.chat(t, mode)
		streamed := map[string]bool{}
		for _, prompt := range st.turns {
			for _, e := range s.say(t, id, prompt, "allow") {
				streamed[e.Type] = true
			}
		}
		if st.then != nil {
			st.then(t, s, id)
		}
		persisted := map[string]bool{}
		for _, e := range s.log(t, id) {
			persisted[e.Type] = true
		}
		for kind := range strings.FieldsSeq(st.kinds) {
			if !persisted[kind] {
				t.Errorf("the story of %q does not have %s: %q\n%+v", st.turns, kind, slices.Sorted(maps.Keys(persisted)), s.log(t, id))
			}
			if st.then == nil && !streamed[kind] && kind != "session_state" {
				t.Errorf("the stream of %q does not have %s", st.turns, kind)
			}
			told[kind] = persisted[kind]
		}
	}
	id := s.chat(t, "full_auto")
	told["session"] = s.first(t, "/chat/sessions/"+id+"/events/stream") == "session"            // never stored: it begins a chat's stream
	told["health_snapshot"] = s.first(t, "/sessions/"+id+"/health/stream") == "health_snapshot" // on a stream of its own
	status, body := s.get("/stream-events", nil)
	var inventory struct{ Events []struct{ Type string } }
	if err := json.Unmarshal([]byte(body), &inventory); err != nil || status != http.StatusOK || len(inventory.Events) < 30 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	for _, e := range inventory.Events {
		if !told[e.Type] {
			t.Errorf("no story produced %s", e.Type)
		}
	}
}

// first is the type of the first event of a stream.
func (p *process) first(t *testing.T, path string) string {
	t.Helper()
	stream := p.open(t, path)
	late := time.AfterFunc(patience, func() { stream.Close() })
	defer late.Stop()
	defer stream.Close()
	var seen strings.Builder
	for b := make([]byte, 4096); ; {
		n, err := stream.Read(b)
		seen.Write(b[:n])
		for line := range strings.Lines(seen.String()) {
			if strings.HasSuffix(line, "\n") {
				if e, ok := streamedEvent(t, line); ok {
					return e.Type
				}
			}
		}
		if err != nil {
			return ""
		}
	}
}
