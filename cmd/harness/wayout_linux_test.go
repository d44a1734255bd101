package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/egress"
	"harness/model/modeltest"
	"harness/sandbox/bwrap"
)

// walled is a sandbox that keeps the network away, on a machine with the program
// that tries to get around it.
func walled(t *testing.T) harness.Sandbox {
	t.Helper()
	box := bwrap.New(nil)
	_, err := box.Probe(t.Context())
	if err == nil {
		_, err = exec.LookPath("curl")
	}
	if err != nil {
		mustHave(t, err.Error())
	}
	return box
}

// Processes of a sandbox without a network reach the domains that are listed,
// by their names, and nothing else: no other name, and no private address
// whatever it is called.
func TestCommandsReachWhatIsListedAndNothingElse(t *testing.T) {
	t.Parallel()
	box := walled(t)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "this is %s", r.Host) }))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	out, err := openWayOut(nil, &egress.Options{
		Log:     slog.New(slog.DiscardHandler),
		Forward: &egress.Forward{Domains: []string{"example.com", "inside.example"}},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(map[string]string{"inside.example": "10.1.2.3"}[host] + map[string]string{"example.com": "93.184.216.34"}[host])}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, web.Listener.Addr().String())
		},
	}, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	out.self = binary
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := (&outfitted{box, out.fit}).Open(t.Context(), harness.WorkspaceSpec{Session: "ses_1", Directory: dir, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	curl := func(args ...string) (int, string) {
		var said bytes.Buffer
		c, err := w.Start(t.Context(), harness.Process{
			Args: append([]string{"curl", "-sS", "--max-time", "20", "--cacert", "ca.pem"}, args...), Stdout: &said, Stderr: &said,
		})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := c.Wait()
		if err != nil {
			t.Fatal(err)
		}
		return exit.Code, said.String()
	}
	for _, try := range []struct {
		what, want string
		args       []string
		ok         bool
	}{
		{"a listed name", "this is example.com", []string{"https://example.com/"}, true},
		{"a name that is not listed", "403", []string{"https://other.example/"}, false},
		{"a listed name of a private address", "403", []string{"https://inside.example/"}, false},
		{"an address", "403", []string{"https://93.184.216.34/"}, false},
		{"another port", "403", []string{"https://example.com:8443/"}, false},
		{"no proxy", "", []string{"--noproxy", "*", "--resolve", "example.com:443:" + web.Listener.Addr().(*net.TCPAddr).IP.String(), "https://example.com/"}, false},
	} {
		if code, said := curl(try.args...); (code == 0) != try.ok || !strings.Contains(said, try.want) {
			t.Errorf("%s: code %d, %s", try.what, code, said)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A list of domains is refused where nothing would keep to it.
func TestAListOfDomainsNeedsASandboxThatKeepsTheNetworkAway(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--sandbox", "local"}, {"--sandbox-network"}, {"--egress-allow", "no domain"}} {
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"run", "--cwd", t.TempDir(), "--engine", "native", "--model", "offline", "--egress-allow", "example.com"}, append(args, "hello")...)...)
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "egress") {
			t.Errorf("%q: %v, %s", args, err, said)
		}
	}
}

// What the native engine's commands ask for that is not listed is refused by the
// way out of a real server.
func TestAShellIsRefusedWhatIsNotListed(t *testing.T) {
	t.Parallel()
	walled(t)
	s := startNative(t, `when step 1
  call bash {"command":"curl -sS --max-time 20 https://other.example/; echo ended with $?"}
else
  say Tried.
`, "--egress-allow", "example.com")
	events := s.say(t, s.chat(t, "full_auto"), "try", "")
	if said := only(t, events, "tool_result").id("output"); !strings.Contains(said, "403") || !strings.Contains(said, "ended with 56") {
		t.Errorf("the command says %q", said)
	}
	if said := s.errors(); !strings.Contains(said, "refused on the way out") || !strings.Contains(said, "other.example:443") {
		t.Errorf("the server says %s", said)
	}
}

// askingAgent speaks ACP, and asks a model with curl what it was told of.
const askingAgent = `while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{}}}' ;;
  *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s1"}}' ;;
  *'"session/prompt"'*)
    said=$(curl -sS -d '{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}' -H "content-type: application/json" -H "x-api-key: $ANTHROPIC_API_KEY" "$ANTHROPIC_BASE_URL/v1/messages" 2>&1 | tr -d '\n"\\')
    echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$said"'"}}}}'
    echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}' ;;
  esac
done
`

// A session's tokens are counted over all its processes.
func TestANewProcessHasNoNewTokens(t *testing.T) {
	t.Parallel()
	out, err := openWayOut(map[string]egress.Provider{"anthropic": egress.Anthropic(func() string { return modelKey })}, &egress.Options{Log: slog.New(slog.DiscardHandler)}, true, 50)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	out.spend(egress.Grant{Session: "ses_1"}, egress.Usage{Input: 30})
	if left, err := out.left("ses_1"); left != 20 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
	out.spend(egress.Grant{Session: "ses_1"}, egress.Usage{Output: 30})
	if _, err := out.fit("ses_1"); err == nil || !strings.Contains(err.Error(), "60 of its 50 tokens") {
		t.Errorf("fitted out: %v", err)
	}
	if _, err := out.fit("ses_2"); err != nil {
		t.Error(err)
	}
}

// An agent that speaks ACP asks its model through the way out, without a key;
// when its session has used its tokens it is told so, and so is the session.
func TestAnAgentOverItsTokensIsToldSo(t *testing.T) {
	t.Parallel()
	walled(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "agent.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+askingAgent), 0o755); err != nil {
		t.Fatal(err)
	}
	models := modeltest.Serve(t, "usage in=100 out=10\nsay It works.")
	args := scripted(t, models, "anthropic", "m")
	args[1] = "acp:" + program
	p := start(t, append(args, "--cwd", dir, "--egress-tokens", "50")...)
	s := &nativeServer{process: p, models: models, dir: dir}
	id := s.chat(t, "full_auto")
	text := func(all []event) string {
		var b strings.Builder
		for _, e := range of(all, "token") {
			b.WriteString(e.id("text"))
		}
		return b.String()
	}
	if first := s.say(t, id, "one", ""); !strings.Contains(text(first), "It works.") {
		t.Fatalf("the agent says %q: %v\n%s", text(first), first, p.errors())
	}
	if got := models.Requests(); len(got) != 1 || got[0].Header.Get("X-Api-Key") != modelKey {
		t.Errorf("the model was asked %d times", len(got))
	}
	if second := s.say(t, id, "two", ""); !strings.Contains(text(second), "the token budget of this run is used up") {
		t.Errorf("the agent says %q", text(second))
	}
	if n := len(models.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if !strings.Contains(p.errors(), "token budget") {
		t.Errorf("the server says %s", p.errors())
	}
	if third := s.say(t, s.chat(t, "full_auto"), "another session", ""); !strings.Contains(text(third), "It works.") {
		t.Errorf("another session is told %q", text(third))
	}
}
