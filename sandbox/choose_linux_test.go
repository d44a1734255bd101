package sandbox_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/sandbox"
	"harness/sandbox/bwrap"
	"harness/sandbox/landlock"
	"harness/sandbox/local"
)

func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// candidates are real ones; that without a program never works.
func candidates() (works, fails []sandbox.Candidate) {
	works = []sandbox.Candidate{
		{Name: "landlock", Sandbox: landlock.New(nil), Auto: true},
		{Name: "local", Sandbox: local.New(nil), Auto: true},
	}
	fails = append([]sandbox.Candidate{{Name: "bwrap", Sandbox: bwrap.New(&bwrap.Options{Program: "/no/such/bwrap"}), Auto: true}}, works...)
	return works, fails
}

func TestAutoTakesTheFirstThatWorksAndSaysWhatFailed(t *testing.T) {
	_, all := candidates()
	s, notice, err := sandbox.Choose(t.Context(), sandbox.Auto, sandbox.Preferred, all)
	if err != nil {
		t.Fatal(err)
	}
	if s != all[1].Sandbox || notice.RequestedBackend != "auto" || notice.ResolvedBackend != "landlock" || notice.Isolation != "landlock" {
		t.Errorf("notice %+v", notice)
	}
	if !strings.Contains(notice.Reason, "bwrap does not work here") {
		t.Errorf("the reason does not say why not bwrap: %s", notice.Reason)
	}
	if !slices.Contains(notice.Enforces, "fs_write") || !slices.Contains(notice.Lacks, "git_hooks") {
		t.Errorf("notice %+v", notice)
	}
}

func TestWhatIsRequiredIsNeverReplaced(t *testing.T) {
	_, all := candidates()
	s, notice, err := sandbox.Choose(t.Context(), "bwrap", sandbox.Required, all)
	if !errors.Is(err, sandbox.ErrNone) || s != nil || notice.ResolvedBackend != "" {
		t.Errorf("got %v, %+v, %v", s, notice, err)
	}
}

func TestWhatIsPreferredIsReplacedWithANotice(t *testing.T) {
	_, all := candidates()
	_, notice, err := sandbox.Choose(t.Context(), "bwrap", sandbox.Preferred, all)
	if err != nil || notice.RequestedBackend != "bwrap" || notice.ResolvedBackend != "landlock" || notice.Reason == "" {
		t.Errorf("got %+v, %v", notice, err)
	}
}

func TestRequiredAutoWantsRealIsolation(t *testing.T) {
	only := []sandbox.Candidate{{Name: "local", Sandbox: local.New(nil), Auto: true}}
	if _, _, err := sandbox.Choose(t.Context(), sandbox.Auto, sandbox.Required, only); !errors.Is(err, sandbox.ErrNone) {
		t.Errorf("local counts as isolation: %v", err)
	}
	if _, notice, err := sandbox.Choose(t.Context(), "local", sandbox.Required, only); err != nil || notice.Isolation != sandbox.KindNone {
		t.Errorf("local, by name: %+v, %v", notice, err)
	}
}

func TestANameThatNobodyHasIsAnError(t *testing.T) {
	all, _ := candidates()
	if _, _, err := sandbox.Choose(t.Context(), "jail", sandbox.Preferred, all); !errors.Is(err, sandbox.ErrNone) {
		t.Errorf("got %v", err)
	}
}

func TestANoticeOfAWorkspaceCountsWhatItsSpecGaveUp(t *testing.T) {
	works, _ := candidates()
	s, chosen, err := sandbox.Choose(t.Context(), sandbox.Auto, sandbox.Required, works)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Open(t.Context(), harness.WorkspaceSpec{Directory: t.TempDir(), Network: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if n := sandbox.Notice(chosen, w); slices.Contains(n.Enforces, "network") || !slices.Contains(n.Lacks, "network") || !strings.Contains(n.Reason, "asked for the network") {
		t.Errorf("notice %+v", n)
	}
	if !slices.Contains(chosen.Enforces, "network") {
		t.Errorf("the choice itself has changed: %+v", chosen)
	}
}
