package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/sandbox"
	"harness/sandbox/bwrap"
	"harness/sandbox/landlock"
	"harness/sandbox/local"
)

// TestTheNoticeSaysInWordsWhatIsNotEnforced looks at each guarantee of each
// sandbox that works here: it is in one of the notice's lists, and if it is
// lacking, its words are in the reason, as they are on the page.
func TestTheNoticeSaysInWordsWhatIsNotEnforced(t *testing.T) {
	page, err := os.ReadFile("../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		candidate sandbox.Candidate
		promises  map[harness.Guarantee]string
	}{
		{sandbox.Candidate{Name: "local", Sandbox: local.New(nil)}, local.Promises()},
		{sandbox.Candidate{Name: "local", Sandbox: local.New(&local.Options{NoCgroup: true})}, local.Promises()},
		{sandbox.Candidate{Name: "landlock", Sandbox: landlock.New(nil)}, landlock.Promises()},
		{sandbox.Candidate{Name: "bwrap", Sandbox: bwrap.New(nil)}, bwrap.Promises()},
	} {
		s, chosen, err := sandbox.Choose(t.Context(), c.candidate.Name, sandbox.Required, []sandbox.Candidate{c.candidate})
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Log(err)
			continue
		}
		w, err := s.Open(t.Context(), harness.WorkspaceSpec{Directory: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		n := sandbox.Notice(chosen, w)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		for _, g := range harness.Guarantees {
			t.Run(c.candidate.Name+"/"+string(g.Name), func(t *testing.T) {
				enforced, lacking := slices.Contains(n.Enforces, string(g.Name)), slices.Contains(n.Lacks, string(g.Name))
				if enforced == lacking {
					t.Errorf("enforced: %v, lacking: %v", enforced, lacking)
				}
				if promise := c.promises[g.Name]; promise == "no" && !lacking || promise == "yes" && lacking {
					t.Errorf("promised %q, lacking: %v", promise, lacking)
				}
				if said := strings.Count(n.Reason, g.Text); lacking && said != 1 || !lacking && said != 0 {
					t.Errorf("lacking: %v, said %d times in %q", lacking, said, n.Reason)
				}
				if !strings.Contains(string(page), "| `"+string(g.Name)+"` | "+g.Text+" |") {
					t.Errorf("the page does not say %q", g.Text)
				}
			})
		}
	}
}

// TestWhatIsRequiredAndMissingRunsNothing: neither the program that was asked
// for nor another is run, whether bubblewrap is missing, is something else, or
// cannot make namespaces.
func TestWhatIsRequiredAndMissingRunsNothing(t *testing.T) {
	dir := t.TempDir()
	program := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, path := range map[string]string{
		"missing":    filepath.Join(dir, "none"),
		"no program": dir,
		"other":      program("other", "exit 0"),
		"userns off": program("off", `[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit; echo "bwrap: No permissions to create new namespace" >&2; exit 1`),
		"pretends":   program("pretends", `[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit; exit 7`),
	} {
		t.Run(name, func(t *testing.T) {
			box := bwrap.New(&bwrap.Options{Program: path})
			all := []sandbox.Candidate{{Name: "bwrap", Sandbox: box, Auto: true}, {Name: "local", Sandbox: local.New(nil), Auto: true}}
			got, notice, err := sandbox.Choose(t.Context(), "bwrap", sandbox.Required, all)
			if !errors.Is(err, sandbox.ErrNone) || got != nil || notice.RequestedBackend != "bwrap" || notice.ResolvedBackend != "" {
				t.Errorf("got %v, %+v, %v", got, notice, err)
			}
			if _, _, err := sandbox.Choose(t.Context(), sandbox.Auto, sandbox.Required, all); !errors.Is(err, sandbox.ErrNone) {
				t.Errorf("auto, required: %v", err)
			}
			// Who does not ask first gets nothing run either.
			ran := filepath.Join(t.TempDir(), "ran")
			w, err := box.Open(t.Context(), harness.WorkspaceSpec{Directory: filepath.Dir(ran), Env: []string{"PATH=/usr/bin:/bin"}})
			if err == nil {
				defer w.Close()
				c, err := w.Start(t.Context(), harness.Process{Args: []string{"/bin/sh", "-c", "echo >" + ran}})
				if err == nil {
					_, err = c.Wait()
				}
				if err == nil {
					t.Error("a command was run, as it seems")
				}
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("a command was run")
			}
		})
	}
}
