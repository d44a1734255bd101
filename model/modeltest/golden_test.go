package modeltest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"harness/model/modeltest"
)

// paths of the protocols, and how each says "hi" to its server.
var protocols = []struct{ name, path, body string }{
	{"messages", "/v1/messages?beta=true", `{"model":"m","max_tokens":9,"stream":%t,"messages":[{"role":"user","content":"hi"}]}`},
	{"responses", "/v1/responses", `{"model":"m","stream":%t,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`},
	{"chat", "/v1/chat/completions", `{"model":"m","stream":%t,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`},
	{"generate", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
}

// TestTheWireIsTheWire compares every byte that goes over the wire for a
// script, in all protocols, streamed and whole. UPDATE=1 rewrites the files.
func TestTheWireIsTheWire(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: a.Comment, Files: a.Files[:1:1]}
			for _, p := range protocols {
				for _, stream := range []bool{true, false} {
					name, path, body := p.name, p.path, strings.ReplaceAll(p.body, "%t", strconv.FormatBool(stream))
					if !stream {
						name, path = name+" whole", strings.ReplaceAll(path, "streamGenerateContent?alt=sse", "generateContent")
					}
					got.Files = append(got.Files, txtar.File{Name: name, Data: told(t, string(a.Files[0].Data), path, body)})
				}
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for i, f := range got.Files {
				if i >= len(a.Files) || f.Name != a.Files[i].Name || !bytes.Equal(f.Data, a.Files[i].Data) {
					t.Errorf("%s differs; UPDATE=1 shows how. Got:\n%s", f.Name, f.Data)
				}
			}
		})
	}
}

// told is the status, the headers that matter and the body of an answer.
func told(t *testing.T, script, path, body string) []byte {
	t.Helper()
	parsed, err := modeltest.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	modeltest.New(parsed).ServeHTTP(w, r)
	res := w.Result()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", res.StatusCode)
	for _, h := range []string{"Content-Type", "Request-Id", "X-Request-Id", "Retry-After"} {
		if v := res.Header.Get(h); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", h, v)
		}
	}
	b.WriteString("\n")
	if _, err := io.Copy(&b, res.Body); err != nil {
		t.Fatal(err)
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}
