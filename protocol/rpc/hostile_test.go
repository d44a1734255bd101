package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"harness/protocol/rpc"
)

// exchange serves one stream of bytes and returns what came out.
func (s *server) exchange(in io.Reader) (string, error) {
	var out bytes.Buffer
	err := rpc.Serve(s.t.Context(), s.k, in, &out, nil)
	return out.String(), err
}

// zeros is an endless line.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

const ask = `{"jsonrpc":"2.0","id":"last","method":"none"}` + "\n"

func TestHugeLineIsSkippedInBoundedMemory(t *testing.T) {
	sv := serve(t, "echo")
	for _, c := range []byte{'x', '[', '"', 0} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := sv.exchange(io.MultiReader(io.LimitReader(endless(c), 100<<20), strings.NewReader("\n"+ask)))
		runtime.ReadMemStats(&after)
		if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, `"too_large"`) || !strings.Contains(out, `"last"`) {
			t.Errorf("%q: %v\n%s", c, err, out)
		}
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 64 {
			t.Errorf("%q: %d MB were allocated", c, got)
		}
	}
}

func TestHostileLinesAreAnswered(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo")
	for name, tt := range map[string]struct {
		in      string
		answers int
	}{
		"nested arrays":     {strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "\n", 1},
		"nested objects":    {strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000) + "\n", 1},
		"nested params":     {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}}\n", 1},
		"brackets in text":  {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"` + strings.Repeat("[", 10_000) + `"}}` + "\n", 1},
		"NUL":               {"\x00\n", 1},
		"NUL in a string":   {"{\"jsonrpc\":\"2.0\",\"id\":\"\x00\",\"method\":\"initialize\"}\n", 1},
		"invalid UTF-8":     {"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"initialize\"}\n", 1},
		"half a surrogate":  {`{"jsonrpc":"2.0","id":"\ud800","method":"\ud800"}` + "\n", 1},
		"CRLF":              {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\r\n\r\n\r\n", 1},
		"blank lines":       {"\n\n \n\t\n\r\n", 0},
		"no line end":       {`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, 1},
		"end inside a line": {`{"jsonrpc":"2.0","id":1,"met`, 1},
		"nothing":           {"", 0},
		"huge batch":        {"[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"none"},`, 50_000) + "1]\n", 1},
		"huge number":       {`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 1<<20) + `,"method":"none"}` + "\n", 1},
		"many keys":         {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + strings.Repeat(`"k":1,`, 100_000) + `"k":2}}` + "\n", 1},
	} {
		end := ""
		if strings.HasSuffix(tt.in, "\n") || tt.in == "" {
			end = ask
			tt.answers++
		}
		out, err := sv.exchange(strings.NewReader(tt.in + end))
		if n := strings.Count(out, "\n"); err != nil || n != tt.answers {
			t.Errorf("%s: %d answers, want %d, %v\n%.500s", name, n, tt.answers, err, out)
		}
	}
}

func TestReadErrorEndsTheConnection(t *testing.T) {
	t.Parallel()
	out, err := serve(t, "echo").exchange(io.MultiReader(strings.NewReader(ask), brokenReader{}))
	if !errors.Is(err, errBroken) || strings.Count(out, "\n") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// When Serve has returned nothing of it is left, however it ended.
func TestNothingRunsAfterServe(t *testing.T) {
	sv := serve(t, "say x\nhang\n")
	thread := sv.connect().thread()
	follow := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"thread.subscribe","params":{"threadId":%q,"after":0}}`+"\n", thread)
	for name, end := range map[string]func(cancel func(), in *io.PipeWriter, out *io.PipeReader){
		"the input ends":                      func(_ func(), in *io.PipeWriter, _ *io.PipeReader) { in.Close() },
		"the output breaks":                   func(_ func(), in *io.PipeWriter, out *io.PipeReader) { out.Close(); in.Close() },
		"ctx is done and the streams closed":  func(cancel func(), in *io.PipeWriter, out *io.PipeReader) { cancel(); in.Close(); out.Close() },
		"the client is stuck and ctx is done": func(cancel func(), in *io.PipeWriter, out *io.PipeReader) { cancel(); out.Close(); in.Close() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- rpc.Serve(ctx, sv.k, inR, outW, nil) }()
		io.WriteString(inW, follow)
		outR.Read(make([]byte, 16)) // in the middle of the answer it stops reading
		go func() {
			if name == "the input ends" {
				io.Copy(io.Discard, outR)
			}
		}()
		end(cancel, inW, outR)
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatalf("%s: Serve does not return", name)
		}
		outR.Close()
		cancel()
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, s := range []string{"rpc.(*follower).run", "rpc.(*writer).run", "rpc.(*conn).read"} {
			if n, other := strings.Count(string(stacks), s+"("), 1; n > other { // sv.connect's own
				t.Errorf("%s: %d of %s are left", name, n-other, s)
			}
		}
	}
}
