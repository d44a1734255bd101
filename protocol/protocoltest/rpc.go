package protocoltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"harness"
	"harness/protocol/rpc"
)

// rpcClient speaks S4 over pipes.
type rpcClient struct {
	stage *stage
	in    io.Writer
	out   *json.Decoder
}

// overRPC lets talk speak JSON-RPC to the stage's kernel.
func (w *stage) overRPC(talk func(c *rpcClient)) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		if err := rpc.Serve(ctx, w.kernel, inR, outW, nil); err != nil {
			w.t.Errorf("%s: rpc: %v", w.at, err)
		}
		outW.Close()
	})
	defer outR.Close()
	defer inW.Close()
	talk(&rpcClient{w, inW, json.NewDecoder(outR)})
	inW.Close()
	io.Copy(io.Discard, outR) // what else there is to say
}

// send asks something about the story's session.
func (c *rpcClient) send(method, params string) {
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"threadId":%q%s}}`+"\n", method, c.stage.session, params); err != nil {
		c.stage.fatalf("rpc: %v", err)
	}
}

// rpcMessage is a notification or an answer.
type rpcMessage struct {
	Method string
	Params json.RawMessage
	Result struct{ Events []json.RawMessage }
	Error  json.RawMessage
}

func (c *rpcClient) read() (m rpcMessage) {
	if err := c.out.Decode(&m); err != nil || m.Error != nil {
		c.stage.fatalf("rpc: %v %s", err, m.Error)
	}
	return m
}

// subscribe asks for what comes behind a position.
func (c *rpcClient) subscribe(after harness.Seq) {
	c.send("thread.subscribe", fmt.Sprintf(`,"after":%d`, after))
	c.read()
}

// notified is every notification that a client gets that subscribes at the end
// to the session that the story's clients saw last, from its beginning on.
func (w *stage) notified() (told []string) {
	if w.session == "" {
		return nil
	}
	// Everything comes as notifications, and again as the records of
	// thread.get, which say when all of it was told.
	var kept []string
	w.overRPC(func(c *rpcClient) {
		c.subscribe(0)
		c.send("thread.get", "")
		for kept == nil || len(told) < len(kept) {
			switch m := c.read(); {
			case m.Method == "":
				kept = []string{}
				for _, e := range m.Result.Events {
					kept = append(kept, string(e))
				}
			default:
				told = append(told, m.Method+" "+string(m.Params))
			}
		}
	})
	for i := range kept { // what is kept is what was told
		method, params, _ := strings.Cut(told[i], " ")
		if !strings.HasPrefix(kept[i], strings.TrimSuffix(params, "}")+`,"notification":"`+method+`"`) {
			w.fatalf("thread.get has %s, told was %s", kept[i], told[i])
		}
	}
	return told
}

// noted is a line for each notification.
func (w *stage) noted() string {
	if w.session == "" {
		return ""
	}
	return mergeDeltas(w.notified())
}

// clockFields are what a story leaves out: times and places.
var clockFields = regexp.MustCompile(`,"(seq|elapsedMs)":\d+|,"time":\{[^}]*\}`)

// mergeDeltas joins text that the store happened to commit in pieces.
func mergeDeltas(told []string) string {
	var out []string
	var last, text string // the open delta, but for its text
	flush := func() {
		if last != "" {
			quoted, _ := json.Marshal(text)
			out = append(out, strings.Replace(last, `"delta":""`, `"delta":`+string(quoted), 1))
		}
		last, text = "", ""
	}
	for _, n := range told {
		n = clockFields.ReplaceAllString(n, "")
		method, params, _ := strings.Cut(n, " ")
		if method != "item.delta" {
			flush()
			out = append(out, n)
			continue
		}
		var d struct{ Delta string }
		if err := json.Unmarshal([]byte(params), &d); err != nil {
			out = append(out, err.Error())
			continue
		}
		quoted, _ := json.Marshal(d.Delta)
		bare := strings.Replace(n, `"delta":`+string(quoted), `"delta":""`, 1)
		if bare != last {
			flush()
			last = bare
		}
		text += d.Delta
	}
	flush()
	return strings.Join(out, "\n") + "\n"
}
