package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestIDsAreEchoedByteForByte(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	for _, id := range []string{
		`1`, `0`, `-0`, `-7`, `1.5`, `1.0`, `1e3`, `1E+300`, `0.1e-7`, `123456789012345678901234567890`, `9007199254740993`,
		`null`, `""`, `"a"`, `"1"`, `"null"`, `"\u0041\n\"\\"`, `"é😀"`, `"\ud83d\ude00"`, `"<&>"`, `"` + strings.Repeat("i", 10_000) + `"`,
	} {
		for _, request := range []string{
			`{"jsonrpc":"2.0","id":%s,"method":"initialize"}`,
			`{ "params" : { } , "method" : "initialize" , "id" : %s , "jsonrpc" : "2.0" }`,
			`{"jsonrpc":"2.0","id":%s,"method":"none"}`,
			"{\"jsonr\\u0070c\":\"2\\u002e0\",\"\\u0069d\":%s,\"method\":\"initialize\"}",
		} {
			c.write(fmt.Sprintf(request, id))
			if l := c.read(); !strings.Contains(l.raw, `"id":`+id+`,`) {
				t.Errorf("id %.40s: got %.200s", id, l.raw)
			}
		}
	}
}

// A notification is carried out and never answered, whatever becomes of it.
func TestNotificationsGetNoAnswer(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	id := c.thread()
	c.until("thread.created")
	from := len(c.seen)
	for _, n := range []string{
		`{"jsonrpc":"2.0","method":"initialize"}`,
		`{"jsonrpc":"2.0","method":"none"}`,
		`{"jsonrpc":"2.0","method":"thread.get","params":{}}`,
		`{"jsonrpc":"2.0","method":"thread.get","params":[]}`,
		`{"jsonrpc":"2.0","method":"turn.cancel","params":{"threadId":"ses_none"}}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"thread.configure","params":{"threadId":%q,"config":{"model":"m"}}}`, id),
		`[{"jsonrpc":"2.0","method":"none"},{"jsonrpc":"2.0","method":"initialize"}]`,
		``, ` `, "\t", "\r",
	} {
		c.write(n)
	}
	c.sync()
	if n := len(c.seen) - from; n != 1 {
		t.Errorf("notifications were answered:\n%s", c.story())
	}
	var r struct{ Seq int }
	c.must(&r, "thread.health", fmt.Sprintf(`{"threadId":%q}`, id))
	if r.Seq != 2 {
		t.Errorf("the notification was not carried out: seq %d", r.Seq)
	}
}

func TestBatchIsAnsweredInOneArray(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	c.write(`[{"jsonrpc":"2.0","id":"a","method":"initialize"}, 1, {"jsonrpc":"2.0","method":"initialize"}, {"jsonrpc":"2.0","id":7,"method":"none"}, {"id":8}, [], {"jsonrpc":"2.0","id":null,"method":"thread.get"} ]`)
	var answers []line
	if err := json.Unmarshal([]byte(c.read().raw), &answers); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range answers {
		code := 0
		if a.Error != nil {
			code = a.Error.Code
		}
		got = append(got, fmt.Sprintf("%s:%d", a.ID, code))
	}
	want := `"a":0 null:-32600 7:-32601 8:-32600 null:-32600 null:-32602`
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestBatchOfTheLargestSize(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	one := `{"jsonrpc":"2.0","id":1,"method":"none"},`
	c.write("[" + strings.TrimSuffix(strings.Repeat(one, 256), ",") + "]")
	if n := strings.Count(c.read().raw, "-32601"); n != 256 {
		t.Errorf("%d answers", n)
	}
}

// What the requests of a batch cause comes after the batch's answer, also if
// several of them concern one thread.
func TestBatchOfTurnsOnOneThread(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	id := c.thread()
	c.until("thread.created")
	from := len(c.seen)
	start := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":%q,"queue":true,"input":[{"type":"text","text":"hi"}]}}`, id)
	c.write("[" + start + "," + start + "," + fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"thread.subscribe","params":{"threadId":%q,"after":1}}`, id) + "]")
	c.until("turn.completed")
	c.until("turn.completed")
	if first := c.seen[from].raw; first[0] != '[' || strings.Contains(first, "error") {
		t.Errorf("first came %s", first)
	}
	if n := strings.Count(c.story(), `"method":"turn.started"`); n != 2 {
		t.Errorf("%d turns:\n%s", n, c.story())
	}
}
