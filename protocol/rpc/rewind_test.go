package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestARewindIsAnnouncedWhereFilesAreKeptAndTellsWhatItDid(t *testing.T) {
	t.Parallel()
	s := serve(t, "ask write access=edit\n  log writing\n  gate written\nsay done")
	s.rewinds = true
	c := s.connect()
	var hello struct{ Capabilities map[string]bool }
	c.must(&hello, "initialize", `{}`)
	if !hello.Capabilities["rewind"] {
		t.Errorf("announced: %v", hello.Capabilities)
	}
	file := filepath.Join(t.TempDir(), "a")
	var made struct{ Thread struct{ ThreadID string } }
	c.must(&made, "thread.create", fmt.Sprintf(`{"directory":%q}`, filepath.Dir(file)))
	th := fmt.Sprintf(`"threadId":%q`, made.Thread.ThreadID)
	c.must(nil, "thread.configure", `{`+th+`,"config":{"permissionMode":"fullAuto"}}`)
	c.must(nil, "turn.start", `{`+th+`,"input":[{"type":"text","text":"go"}]}`)
	var item struct {
		Item struct{ ItemID string }
	}
	if err := json.Unmarshal(c.until("item.started").Params, &item); err != nil { // the prompt
		t.Fatal(err)
	}
	c.until("item.delta")
	rewind := fmt.Sprintf(`{%s,"messageId":%q,"clientKey":"k"}`, th, item.Item.ItemID)
	c.refused(-32002, "busy", "thread.rewind", rewind)
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.engine.Open("written")
	c.until("turn.completed")
	var first, again struct {
		OK           bool
		Seq          int
		FilesChanged []string
		ItemID       string
	}
	c.must(&first, "thread.rewind", rewind)
	if _, err := os.Stat(file); !os.IsNotExist(err) || !first.OK || len(first.FilesChanged) != 1 || first.ItemID == "" {
		t.Errorf("%+v, %v", first, err)
	}
	c.must(&again, "thread.rewind", rewind)
	if again.Seq != first.Seq {
		t.Errorf("first %+v, again %+v", first, again)
	}
	c.refused(-32602, "invalid", "thread.rewind", `{`+th+`,"messageId":"itm_none"}`)
	c.must(nil, "thread.rewind", fmt.Sprintf(`{%s,"messageId":%q}`, th, first.ItemID))
	if _, err := os.Stat(file); err != nil {
		t.Errorf("undone: %v", err)
	}
}
