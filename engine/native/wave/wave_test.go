package wave_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"harness"
	"harness/engine/native/wave"
	"harness/tool"
)

// letters are the accesses of a table's calls: r, e, x, n, and ! for what cannot
// be taken back.
func letters(s string) (calls []wave.Call) {
	for i, r := range s {
		p := tool.Plan{Access: map[rune]harness.Access{
			'r': harness.AccessRead, 'e': harness.AccessEdit, 'x': harness.AccessExecute, 'n': harness.AccessNetwork, '!': harness.AccessRead,
		}[r], Destructive: r == '!'}
		calls = append(calls, wave.Call{ID: harness.CallID(fmt.Sprint(i)), Plan: p})
	}
	return calls
}

func TestOnlyReadersShareAWave(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":           "[] ",
		"r":          "[[0]] ",
		"rrr":        "[[0 1 2]] ",
		"rere":       "[[0] [1] [2] [3]] edits run in order",
		"rrxrr":      "[[0 1] [2] [3 4]] commands run in order",
		"nn":         "[[0] [1]] network calls run in order",
		"e!r":        "[[0] [1] [2]] what cannot be taken back runs alone",
		"rrrrrrrrrr": "[[0 1 2 3 4 5 6 7] [8 9]] only so many read at a time",
		"ex":         "[[0] [1]] commands run in order",
	} {
		waves, why := wave.Schedule(letters(in))
		if got := fmt.Sprint(waves, " ", why); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestNobodyOvertakes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var s strings.Builder
		for range rng.IntN(20) {
			s.WriteByte("rrrexn!"[rng.IntN(7)])
		}
		waves, _ := wave.Schedule(letters(s.String()))
		next := 0
		for _, w := range waves {
			for _, i := range w {
				if i != next || len(w) > 1 && s.String()[i] != 'r' || len(w) > wave.MaxWidth {
					t.Fatalf("%q: %v", s.String(), waves)
				}
				next++
			}
		}
		if next != s.Len() {
			t.Fatalf("%q: %v", s.String(), waves)
		}
	}
}
