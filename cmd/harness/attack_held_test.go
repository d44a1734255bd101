package main

import (
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// check is something that was looked at when an attack had been made.
type check int

const (
	sawLine  check = iota // a line of the audit that says that it was refused
	sawQuiet              // an audit without one
	sawState              // sessions, tokens and files as they were before
)

// held has the checks that tests have really made, so that a row of the list
// cannot be true by the name of its test alone.
type held struct {
	mu      sync.Mutex                // guards what follows
	made    map[string]map[check]bool // by test
	skipped map[string]bool           // tests that this machine cannot make
}

var attacked = &held{made: map[string]map[check]bool{}, skipped: map[string]bool{}}

// begin is for a test that may be skipped.
func (h *held) begin(t testing.TB) {
	t.Cleanup(func() {
		if t.Skipped() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.skipped[t.Name()] = true
		}
	})
}

// saw says that a test has made a check.
func (h *held) saw(t testing.TB, c check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, _, _ := strings.Cut(t.Name(), "/")
	if h.made[name] == nil {
		h.made[name] = map[check]bool{}
	}
	h.made[name][c] = true
}

// missing are the rows of the list whose tests ran and did not check what the
// row says. A row counts if the flags let all of its tests run.
func (h *held) missing(runs func(test string) bool) (rows []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, a := range attacks[1:] {
		saw := map[check]bool{}
		whole := true
		for name := range strings.FieldsSeq(a.tests) {
			if strings.Contains(name, ":") {
				continue
			}
			whole = whole && runs(name) && !h.skipped[name]
			for c := range h.made[name] {
				saw[c] = true
			}
		}
		ok := true
		switch a.leaves {
		case aLine:
			ok = saw[sawLine] && saw[sawState]
		case both:
			ok = saw[sawLine] && saw[sawQuiet] && saw[sawState]
		case none:
			ok = saw[sawQuiet]
		case nowhere:
			ok = !saw[sawLine] && !saw[sawQuiet]
		}
		if whole && !ok {
			rows = append(rows, fmt.Sprintf("attack %d, %s: %s; seen: a line %t, none %t, nothing changed %t", n+1, a.what, a.leaves, saw[sawLine], saw[sawQuiet], saw[sawState]))
		}
	}
	return rows
}

// selected is which tests the flags let run, whole.
func selected() func(test string) bool {
	value := func(name string) string { return flag.Lookup("test." + name).Value.String() }
	run, skip := value("run"), value("skip")
	if value("list") != "" || strings.Contains(run, "/") || strings.Contains(skip, "/") || runtime.GOOS != "linux" {
		return func(string) bool { return false }
	}
	may, not := regexp.MustCompile(run), regexp.MustCompile(skip) // testing has compiled them
	return func(test string) bool { return may.MatchString(test) && (skip == "" || !not.MatchString(test)) }
}

// TestARowIsNotTrueByItsTestsName: one whose test checks nothing is named, also
// if it checks something else; one that did not run is not.
func TestARowIsNotTrueByItsTestsName(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	empty := &held{}
	want := 0
	for _, a := range attacks[1:] {
		if a.leaves != nowhere {
			want++
		}
	}
	if got := empty.missing(all); len(got) != want {
		t.Errorf("of tests that check nothing %d rows are named, want %d: %q", len(got), want, got)
	}
	if got := empty.missing(func(string) bool { return false }); len(got) != 0 {
		t.Errorf("of tests that did not run: %q", got)
	}
	partly := &held{made: map[string]map[check]bool{"TestOneOfTwoDecisionsWins": {sawLine: true}}}
	if got := partly.missing(func(test string) bool { return test == "TestOneOfTwoDecisionsWins" }); len(got) != 1 || !strings.HasPrefix(got[0], "attack 24,") {
		t.Errorf("of one that does not look at the state: %q", got)
	}
}
