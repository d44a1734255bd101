package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness/sandbox"
)

// TestMain lets the test binary be the servers that it tests with.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	if kind := os.Getenv("HARNESS_TEST_SERVER"); kind != "" {
		serve(kind)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + `0123456789` + `"}}` + "\n"

// serve is a server of ours, of a kind.
func serve(kind string) {
	switch kind {
	case "gone":
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		os.Exit(7)
	case "hang":
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		}
	case "deaf":
		select {}
	case "bytes":
		forever(strings.Repeat("x", 64<<10))
	case "notices":
		forever(notice)
	case "good":
		good()
	case "refuses":
		answer(func(id, _ string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32602,"message":"not today"}}`
		})
	case "pages": // of a list that has no end
		n := 0
		answer(func(id, line string) string {
			if strings.Contains(line, `"method":"initialize"`) {
				return `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"pages","version":"1"}}}`
			}
			n++
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"nextCursor":"%d","tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}}`, id, n, n)
		})
	case "modern": // knows the handshake of 2026 only
		r, w := io.Pipe()
		s := sdk.NewServer(&sdk.Implementation{Name: "modern", Version: "1"}, nil)
		s.AddTool(&sdk.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}}, nothing)
		go func() { _ = s.Run(context.Background(), &sdk.IOTransport{Reader: r, Writer: os.Stdout}) }()
		answer(func(id, line string) string {
			if strings.Contains(line, `"method":"initialize"`) {
				return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32022,"message":"unsupported protocol version"}}`
			}
			fmt.Fprintln(w, line)
			return ""
		})
	case "many":
		s := sdk.NewServer(&sdk.Implementation{Name: "many", Version: "1"}, &sdk.ServerOptions{PageSize: 50})
		for i := range 300 {
			s.AddTool(&sdk.Tool{Name: fmt.Sprintf("tool%03d", i), Description: strings.Repeat("é", 4000), InputSchema: map[string]any{"type": "object"}}, nothing)
		}
		s.AddTool(&sdk.Tool{Name: "aa-large", InputSchema: map[string]any{"type": "object", "description": strings.Repeat("x", 40<<10)}}, nothing)
		_ = s.Run(context.Background(), &sdk.StdioTransport{})
	}
}

// answer answers every line with an id.
func answer(with func(id, line string) string) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if out := with(string(m.ID), in.Text()); out != "" {
			fmt.Println(out)
		}
	}
}

func forever(text string) {
	for {
		if _, err := os.Stdout.WriteString(text); err != nil {
			return
		}
	}
}

func nothing(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return say("done"), nil
}

func say(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// good is a server that does what it is asked to, also when it is asked to be bad.
func good() {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, nil)
	no := false
	add := func(name string, says *sdk.ToolAnnotations, do func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "does " + name, Annotations: says, InputSchema: map[string]any{"type": "object"}}, do)
	}
	add("echo", &sdk.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(string(r.Params.Arguments)), nil
	})
	add("append", &sdk.ToolAnnotations{DestructiveHint: &no}, nothing)
	add("plain", nil, nothing)
	add("env", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(strings.Join(os.Environ(), "\n")), nil
	})
	add("pid", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(fmt.Sprint(os.Getpid())), nil
	})
	add("die", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "the disk is on fire")
		os.Exit(3)
		return nil, nil
	})
	add("stuck", nil, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("frozen", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // answers nothing any more, not even pings
		select {}                                      // the signal may take a moment
	})
	add("grow", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add("grown", nil, nothing)
		return say("grown"), nil
	})
	add("mixed", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"n": 42}, Content: []sdk.Content{
			&sdk.TextContent{Text: "a text"},
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG")},
			&sdk.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 10)},
			&sdk.ResourceLink{URI: "file:///x", Name: "x"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://1", Text: "inside"}},
		}}, nil
	})
	add("fails", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := say("no such city")
		r.IsError = true
		return r, nil
	})
	add("large", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(strings.Repeat("0123456789abcdef", 5<<20/16)), nil
	})
	add("prints", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Println("starting up on port 8080 …")
		return say("printed"), nil
	})
	add("progress", nil, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "working"})
		}
		return say("done"), nil
	})
	for name, text := range map[string]string{"flood-bytes": strings.Repeat("x", 64<<10), "flood-notices": notice, "flood-lines": "hello\n", "flood-answers": `{"jsonrpc":"2.0","id":99999,"result":{}}` + "\n"} {
		add(name, nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			forever(text)
			return say("over"), nil
		})
	}
	add("flood-line", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Stdout.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("y", 50<<20) + "\"}}\n")
		return say("over"), nil
	})
	add("flood-errors", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for {
			if _, err := os.Stderr.WriteString(strings.Repeat("e", 64<<10)); err != nil {
				return say("over"), nil
			}
		}
	})
	s.AddResource(&sdk.Resource{URI: "mem://poem", Name: "poem", MIMEType: "text/plain"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "mem://poem", Text: "roses are red"}}}, nil
	})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}
