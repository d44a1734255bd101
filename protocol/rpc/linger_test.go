package rpc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/protocol/rpc"
)

// A client that sends a prompt and ends its input is told how the turn goes, to
// its end; but not of a turn that waits for an answer, which it cannot give.
func TestTurnsAreToldAfterTheInputEnds(t *testing.T) {
	t.Parallel()
	sv := serve(t, "when ask\nask bash {\"command\":\"x\"} => ok\nend\nwhen hang\nhang\nend\nsay one\ncall read {\"path\":\"a\"} => text\nsay two\n")
	told := func(prompt string, linger time.Duration) string {
		id, err := sv.k.Create(t.Context(), harness.NewSession{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":%q,"input":[{"type":"text","text":%q}]}}`, id, prompt)
		if err := rpc.Serve(t.Context(), sv.k, strings.NewReader(line), &out, &rpc.Options{Linger: linger}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if out := told("go", patience); !strings.Contains(out, `"method":"turn.completed"`) || !strings.Contains(out, "two") {
		t.Errorf("told\n%s", out)
	}
	if out := told("ask", patience); !strings.Contains(out, `"method":"approval.requested"`) {
		t.Errorf("of a question:\n%s", out)
	}
	if out := told("hang", 50*time.Millisecond); !strings.Contains(out, `"id":1`) || strings.Contains(out, "turn.completed") {
		t.Errorf("of a turn that does not end:\n%s", out)
	}
}
