package mcp_test

import (
	"strings"
	"testing"
	"time"

	"harness/tool/mcp"
)

func TestParseReadsTheUsualFile(t *testing.T) {
	t.Parallel()
	servers, err := mcp.Parse([]byte(`{"mcpServers": {
		"web": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeout": 1500},
		"files": {"command": "npx", "args": ["-y", "x@1.2.3", "${DIR:-/tmp}"], "env": {"A": "b"}, "allow": ["read_*"], "deny": ["*_all"], "readOnly": true, "autoApprove": []},
		"off": {"command": "x", "disabled": true}
	}, "other": 1}`), map[string]string{"TOKEN": "t"})
	if err != nil || len(servers) != 2 {
		t.Fatalf("%+v, %v", servers, err)
	}
	want := asJSON([]mcp.Server{
		{Name: "files", Command: "npx", Args: []string{"-y", "x@1.2.3", "/tmp"}, Env: map[string]string{"A": "b"}, Allow: []string{"read_*"}, Deny: []string{"*_all"}, ReadOnly: true},
		{Name: "web", URL: "https://example.org/mcp", Headers: map[string]string{"Authorization": "Bearer t"}, Call: 1500 * time.Millisecond},
	})
	if got := asJSON(servers); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOurEnvironmentIsNotExpanded(t *testing.T) {
	t.Setenv("HARNESS_SECRET_OF_OURS", "s3cret")
	servers, err := mcp.Parse([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["${HARNESS_SECRET_OF_OURS}", "$HOME"]}, "b": {"command": "y", "args": ["$HOME"]}}}`), nil)
	if err == nil || !strings.Contains(err.Error(), `server "a": variables that it is not given: ["HARNESS_SECRET_OF_OURS"]`) {
		t.Errorf("error %v", err)
	}
	if len(servers) != 1 || servers[0].Name != "b" || servers[0].Args[0] != "$HOME" {
		t.Errorf("servers %+v", servers)
	}
}

func TestABadRowIsNamedAndTheOthersStay(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		`{}`:                               "needs either a command or a url",
		`{"command":"a","url":"http://b"}`: "needs either a command or a url",
		`{"url":"file:///etc/passwd"}`:     "not an http or https one",
		`{"url":"x","type":"sse"}`:         `transport "sse" is not supported`,
		`{"command":"a","allow":["["]}`:    "syntax error in pattern",
		`{"command":["a"]}`:                "cannot unmarshal",
		`{"command":"a","env":{"A=B":""}}`: "is no name of a variable",
	} {
		servers, err := mcp.Parse([]byte(`{"mcpServers": {"bad": `+row+`, "good": {"command": "x"}}}`), nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(servers) != 1 || servers[0].Name != "good" {
			t.Errorf("%s: %+v, %v, want %s", row, servers, err, want)
		}
	}
	if _, err := mcp.Parse([]byte(`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`), nil); err == nil {
		t.Error("two rows of one name were read")
	}
}
