package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/native"
	"harness/model/modeltest"
	"harness/sandbox/local"
	"harness/tool"
)

// situations gets the engine into every situation of the suite.
const situations = `
when user "say"
  say hello
  say you
when user "fail"
  status 401 no
when user "retry"
  status 529 busy
when user "long"
  say working
  pause
when user "think"
  think hm
  say done
when user "ask" and step 1
  call touch {"n":1}
when user "tool" and step 1
  call look {"n":1}
  call look {"n":2}
when user "a word"
  say heard
%s
when user "resume" and step 1
  call look {"n":1}
when user "resume" and step 2
  say half
  call look {"n":2}
when user "resume" and step 3
  call touch {"n":3}
else
  say done
`

// steers is a turn that goes on until somebody says something to it.
func steers() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "when user steer and step %d\n  call look {\"n\":%d}\n", i+1, i)
	}
	return b.String()
}

// toy is a tool that counts.
type toy struct {
	name   string
	access harness.Access
	ran    atomic.Int64
	then   func(ctx context.Context, env *tool.Env, input json.RawMessage) (tool.Result, error)
}

func (y *toy) Spec() tool.Spec {
	return tool.Spec{Name: y.name, Description: "A toy.", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (y *toy) Plan(_ *tool.Env, input json.RawMessage) (tool.Plan, error) {
	return tool.Plan{Access: y.access, Keys: []string{"toy:" + string(input)}, Summary: y.name + " " + string(input)}, nil
}

func (y *toy) Run(ctx context.Context, env *tool.Env, input json.RawMessage) (tool.Result, error) {
	y.ran.Add(1)
	if y.then != nil {
		return y.then(ctx, env, input)
	}
	env.Log("stdout", "running\n")
	return tool.Result{Text: "done " + string(input)}, nil
}

// placed is an engine whose turns have a directory.
type placed struct {
	*native.Engine
	dir string
}

func (p placed) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	t.Directory = p.dir
	return p.Engine.Run(ctx, t, h)
}

func TestItIsAnEngine(t *testing.T) {
	t.Parallel()
	for client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			var ran *toy
			enginetest.Test(t, func(tb testing.TB) harness.Engine {
				server := modeltest.Serve(tb, fmt.Sprintf(situations, steers()))
				touch := &toy{name: "touch", access: harness.AccessExecute}
				ran = touch
				e := native.New(clients[client](server.URL, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}), &native.Options{Model: "m", Limits: native.Limits{Idle: 1}, Sandbox: local.New(&local.Options{NoCgroup: true}), Tools: []tool.Tool{&toy{name: "look", access: harness.AccessRead}, touch}})
				tb.Cleanup(func() {
					if err := e.Close(); err != nil {
						tb.Error(err)
					}
				})
				dir, err := filepath.EvalSymlinks(tb.TempDir())
				if err != nil {
					tb.Fatal(err)
				}
				return placed{e, dir}
			}, enginetest.Situations{
				Say: "say", Fail: "fail", Retry: "retry", Long: "long", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
				Ran: func() bool { return ran.ran.Load() > 0 }, Bound: patience,
			})
		})
	}
}
