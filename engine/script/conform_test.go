package script_test

import (
	"testing"
	"testing/synctest"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/script"
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
    wait 1s
    result removed
  say after
else when steer
  say waiting
  steer
else when resume
  call read {"path":"a"} => text
  say half
  repeat 3
    tool bash {"command":"make"}
    log made
    outcome ok
    wait 1s
  end
  ask edit {"path":"a"} access=edit => changed
  checkpoint
  say done
end
`

func suite() enginetest.Situations {
	return enginetest.Situations{
		Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
		In: synctest.Test,
	}
}

func engine(t testing.TB, src string, opts *script.Options) *script.Engine {
	t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return script.New(s, opts)
}

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	enginetest.Test(t, func(tb testing.TB) harness.Engine { return engine(tb, situations, nil) }, suite())
}

func TestEngineWithoutAnAbilityKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	for name, lacks := range map[string]harness.Abilities{
		"Tools": {Tools: true}, "Steer": {Steer: true}, "Resume": {Resume: true}, "Thinks": {Thinks: true}, "Approve": {Approve: true},
		"All": {Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.Test(t, func(tb testing.TB) harness.Engine {
				return engine(tb, situations, &script.Options{Lacks: lacks})
			}, suite())
		})
	}
}
