package rest

import (
	"fmt"
	"io"
	"testing"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// Every stream says first whose events follow, wherever it begins, if the
// filter wants to hear it; it has no id and is in no log.
func TestEveryStreamBeginsWithTheSession(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{})
	id := h.create("")
	r := h.submit(id, "hi")
	h.asleep()
	all := h.log(id, everything)
	hello := fmt.Sprintf("retry: 1000\nevent: session\ndata: {\"session_id\":%q,\"type\":\"session\",\"tier\":\"default\",\"payload\":{\"session_id\":%[1]q}}\n\n", id)
	for _, c := range []struct{ query, last, want string }{
		{"", "", hello + "id: 1\n"},
		{"?after=2", "", hello + "id: 3\n"},
		{"?tier=default", "", hello + "id: 1\n"},
		{"?tier=debug", "", hello + "id: 1\n"},
		{"?types=session,user_message", "", hello + "id: 2\n"},
		{"?types=user_message", "", "retry: 1000\n\nid: 2\n"},
		{"?turn=" + string(r.Turn), "", hello + "id: 1\n"},
		{"", "x", hello + "event: reset\n"},
	} {
		l, err := listen(t, h.addr, string(id)+c.query, c.last)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(c.want))
		if _, err := io.ReadFull(l.br, got); err != nil || string(got) != c.want {
			t.Errorf("%s: %v %q", c.query, err, got)
		}
	}
	// One that wants nothing else, and one that has everything: the word is all
	// there is until something happens.
	only, end := h.listen(string(id)+"?types=session"), h.listen(fmt.Sprintf("%s?after=%d", id, len(all)))
	got := make([]byte, len(hello))
	if _, err := io.ReadFull(only.br, got); err != nil || string(got) != hello {
		t.Errorf("%v %q", err, got)
	}
	h.submit(id, "more")
	same(t, "behind the end", []heard{end.must()}, h.log(id, everything)[len(all):len(all)+1])
	for e, err := range h.store.Read(t.Context(), id, 0) {
		if err != nil || e.Type() == harness.Type("session") {
			t.Errorf("the log has %v, %v", e.Type(), err)
		}
	}
}
