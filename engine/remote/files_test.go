package remote_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/remote"
	"harness/protocol/runner"
)

// What a runner says about files is believed no more than what it says in runs,
// and is told in the words of the closed set.
func TestFilesOfARunnerThatIsNotBelieved(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name   string
		code   int
		mark   string // its answer to a mark
		rewind string // and to a rewind
		want   error  // nil is a fault of the runner's
	}{
		{"no such endpoint", 404, `not found`, `not found`, harness.ErrUnsupported},
		{"no such method", 405, ``, ``, harness.ErrUnsupported},
		{"no snapshots", 501, `{"error":{"code":"unsupported","message":"none"}}`, `{}`, harness.ErrUnsupported},
		{"a run is under way", 409, `{}`, `{}`, harness.ErrBusy},
		{"it is going", 503, `{}`, `{}`, harness.ErrUnavailable},
		{"no JSON", 200, `<html>`, `<html>`, nil},
		{"no mark", 200, `{"mark":""}`, `{"safety":"a\nb"}`, nil},
		{"a long mark", 200, `{"mark":"` + long + `"}`, `{"after":"` + long + `"}`, nil},
		{"a long name", 200, `{"mark":"\u0000"}`, `{"restore":[{"path":"` + long + `"}]}`, nil},
		{"no name", 200, `{"mark":"\u001b"}`, `{"files_changed":[""]}`, nil},
		{"too much", 200, `{"mark":"m","incomplete":"` + strings.Repeat(long, 200) + `"}`, `{"error":"` + strings.Repeat(long, 200) + `"}`, nil},
	} {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/health" {
				fmt.Fprint(w, `{"ok":true,"snapshots":true}`)
				return
			}
			w.WriteHeader(c.code)
			answer := c.mark
			if r.URL.Path == "/workspace/rewind" {
				answer = c.rewind
			}
			fmt.Fprint(w, answer)
		})
		files, err := e.Files("/somewhere")
		if err != nil {
			t.Fatal(err)
		}
		_, marked := files.Mark(t.Context(), "ses_1", harness.MarkBefore)
		_, rewound := files.Rewind(t.Context(), harness.Rewinding{Session: "ses_1", Mark: "m"})
		for what, err := range map[string]error{"mark": marked, "rewind": rewound} {
			_, fault := errors.AsType[*runner.FaultError](err)
			if c.want == nil && !fault || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %s: %.200v", c.name, what, err)
			}
		}
	}
}

func TestARunnerThatKeepsNothingHasNoFiles(t *testing.T) {
	t.Parallel()
	if _, err := serve(t, s2Only).Files("/d"); !errors.Is(err, harness.ErrUnsupported) {
		t.Errorf("a runner of S2's text: %v", err)
	}
	e, err := remote.Open("http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := e.Files("/d") // it may be there later
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Mark(t.Context(), "ses_1", harness.MarkBefore); !errors.Is(err, harness.ErrUnavailable) {
		t.Errorf("one that cannot be reached: %v", err)
	}
}

// A rewind that could not do everything tells the rest and the error.
func TestARewindThatCouldNotDoEverythingTellsBoth(t *testing.T) {
	t.Parallel()
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"ok":true,"snapshots":true,"safety":"m1","restore":[{"path":"a"}],"error":"b would not go"}`)
	})
	files, err := e.Files("/d")
	if err != nil {
		t.Fatal(err)
	}
	got, err := files.Rewind(t.Context(), harness.Rewinding{Session: "ses_1", Mark: "m"})
	if err == nil || err.Error() != "b would not go" || got.Safety != "m1" || len(got.Restore) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if err := files.Forget("ses_1"); err != nil {
		t.Error(err)
	}
}

// TestWhoKeepsNoFilesDoesNotClaimToRewind: what a runner elsewhere works on is
// its own.
func TestWhoKeepsNoFilesDoesNotClaimToRewind(t *testing.T) {
	t.Parallel()
	for health, rewinds := range map[string]bool{
		`{"ok":true,"busy":false}`:                                                         false,
		`{"ok":true,"busy":false,"abilities":{"tools":true}}`:                              false,
		`{"ok":true,"busy":false,"abilities":{"tools":true},"snapshots":true}`:             true,
		`{"ok":true,"busy":false,"abilities":{"tools":true,"away":true},"snapshots":true}`: true,
	} {
		e := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, health) })
		_, err := e.Files("")
		can := e.Abilities()
		if (err == nil) != rewinds || slices.Contains(can.Commands(), "rewind") != rewinds || slices.Contains(can.Events(), "rewind") != rewinds {
			t.Errorf("%s: %v, %v", health, err, can.Commands())
		}
	}
}
