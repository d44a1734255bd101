package enginetest

import (
	"cmp"
	"testing"
	"time"

	"harness"
)

// Situations says how to get an engine into the situations that the suite
// needs: prompts, and what to look at. A prompt may be left out only if the
// engine's abilities say that the situation cannot occur.
type Situations struct {
	Say    string // it answers with text and completes
	Fail   string // it fails for good
	Long   string // it works, or waits, until it is cancelled, and calls its host at least once before
	Retry  string // it fails in a way that another attempt may not; "" if it never does
	Think  string // it reports thinking and completes
	Tool   string // it makes at least one call that needs no answer and completes
	Ask    string // it asks about one call, goes on whatever the answer, and completes
	Steer  string // it runs until it has been told something, then completes
	Resume string // it makes the same calls each time, records at least one checkpoint, and completes

	// Ran reports whether the call of Ask has really been carried out by the
	// engine opened last, for engines whose calls do something. Nil otherwise.
	Ran func() bool

	// Left lists what the engine opened last has left outside the program, such
	// as processes. Nil if it starts nothing.
	Left func() []string

	// Bound is how long a turn, or its end after a cancel, may take; 10 s if 0.
	Bound time.Duration

	// In runs the body of a subtest; for engines that wait for nothing outside
	// the program it should be synctest.Test. Nil calls it directly.
	In func(*testing.T, func(*testing.T))
}

// A promise is one thing that every engine keeps.
type promise struct {
	name  string
	check func(*check)
}

// promises is the comment of harness.Engine, as tests.
var promises = []promise{
	{"ReturnsNilWhenTheTurnCompletes", returnsNil},
	{"ReturnsAnErrorWhenTheTurnFails", returnsError},
	{"StopsWithTheCauseAtAnyStep", stopsAtAnyStep},
	{"LeavesNothingRunning", leavesNothing},
	{"EveryCallHasExactlyOneOutcome", oneOutcome},
	{"NothingRunsUnlessAskSaidYes", nothingRunsUnasked},
	{"ABlockedEmitOnlyDelays", toleratesBlocking},
	{"ReportsWhatItsAbilitiesSay", keepsToAbilities},
	{"ResumeContinuesFromTheLastCheckpoint", resumes},
	{"SteeringIsConsumedOrRefused", hearsSteering},
	{"RunsManyTurnsAtOnce", runsManyAtOnce},
}

// Test checks every promise of [harness.Engine] on engines that open makes, in
// one subtest each.
func Test(t *testing.T, open func(testing.TB) harness.Engine, s Situations) {
	s.Bound = cmp.Or(s.Bound, 10*time.Second)
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			body := func(t *testing.T) { p.check(&check{TB: t, open: open, s: s}) }
			if s.In == nil {
				body(t)
				return
			}
			s.In(t, body)
		})
	}
}

// check is one promise being checked.
type check struct {
	testing.TB
	s    Situations
	open func(testing.TB) harness.Engine
}

// need fails if a prompt that the engine's abilities call for is missing.
func (c *check) need(name, prompt string) {
	c.Helper()
	if prompt == "" {
		c.Fatalf("the engine's abilities need a prompt for the situation %s", name)
	}
}
