package nodetest

import (
	"testing"

	"harness"

	"github.com/anishathalye/porcupine"
)

// TestTheCheckerBites gives the model histories that no session has.
func TestTheCheckerBites(t *testing.T) {
	t.Parallel()
	add := func(key string, seq harness.Seq, call, back int64) porcupine.Operation {
		return porcupine.Operation{Input: asked{"s", key}, Output: heard{seq: seq}, Call: call, Return: back}
	}
	see := func(keys string, call, back int64) porcupine.Operation {
		return porcupine.Operation{ClientId: 1, Input: asked{session: "s"}, Output: heard{keys: keys}, Call: call, Return: back}
	}
	for what, c := range map[string]struct {
		ops  []porcupine.Operation
		want bool
	}{
		"one after the other":       {[]porcupine.Operation{add("a", 2, 0, 1), see("a@2;", 2, 3), add("b", 5, 4, 5), see("a@2;b@5;", 6, 7)}, true},
		"seen before it was told":   {[]porcupine.Operation{add("a", 2, 0, 9), see("a@2;", 2, 3)}, true},
		"acknowledged and lost":     {[]porcupine.Operation{add("a", 2, 0, 1), see("", 2, 3)}, false},
		"seen and taken back":       {[]porcupine.Operation{add("a", 2, 0, 9), see("a@2;", 2, 3), see("", 4, 5)}, false},
		"a place that was taken":    {[]porcupine.Operation{add("a", 2, 0, 1), add("b", 2, 2, 3)}, false},
		"in another order than now": {[]porcupine.Operation{add("a", 5, 0, 1), add("b", 2, 2, 3)}, false},
	} {
		if got := porcupine.CheckOperations(session, c.ops); got != c.want {
			t.Errorf("%s: linearizable is %t", what, got)
		}
	}
}

// complaints counts what a check has to say.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.n++ }

// TestWhatIsLostOrDoubledIsFound settles histories with logs that contradict
// them.
func TestWhatIsLostOrDoubledIsFound(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		told bool // whether the client heard that it happened
		log  []Prompt
		want bool // that it is fine
	}{
		"there":                    {true, []Prompt{{"k", 2}}, true},
		"acknowledged and lost":    {true, nil, false},
		"not acknowledged":         {false, nil, true},
		"it happened nevertheless": {false, []Prompt{{"k", 2}}, true},
		"twice":                    {true, []Prompt{{"k", 2}, {"k", 5}}, false},
	} {
		var h History
		h.Submit(1, "s", "k", func() (harness.Seq, error) {
			if c.told {
				return 0, nil
			}
			return 0, harness.ErrStorage
		})
		got := &complaints{TB: t}
		h.Check(got, func(harness.SessionID) ([]Prompt, error) { return c.log, nil })
		if (got.n == 0) != c.want {
			t.Errorf("%s: %d complaints", what, got.n)
		}
	}
}
