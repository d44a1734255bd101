package remote_test

import (
	"testing"

	"harness"
	"harness/engine/enginetest"
)

// situations is a script that gets into every situation of the suite.
const situations = `
when say
  say hello
else when fail
  fail broken
else when retry
  say before
  retry try again
else when long
  say working
  hang
else when think
  think hm
  reflect so
  say done
else when tool
  tool bash {"command":"ls"}
  log a
  result a
  outcome ok
  call read {"path":"a"} => text
  tool read {"path":"b"}
  outcome error no such file
else when ask
  ask bash {"command":"rm a"} access=execute "Remove a"
    log gone
    result removed
  say after
else when steer
  say waiting
  steer
else when resume
  call read {"path":"a"} => text
  say half
  ask edit {"path":"a"} access=edit => changed
  checkpoint
  say done
end
`

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	enginetest.Test(t, func(tb testing.TB) harness.Engine {
		e, _ := runners(tb, situations)
		return e
	}, enginetest.Situations{
		Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
	})
}
