package custody_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"harness"
	"harness/custody"
)

func open(t testing.TB) *custody.Book {
	t.Helper()
	b, err := custody.Open(filepath.Join(t.TempDir(), "custody"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sleeper is a process that does nothing.
func sleeper(t testing.TB) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func record(t testing.TB, b *custody.Book, s harness.SessionID, role custody.Role, ref harness.ProcessRef) custody.Entry {
	t.Helper()
	e, err := b.Record(custody.Entry{Session: s, Turn: "trn_1", Role: role, ProcessRef: ref, Socket: "/run/sock"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func of(t testing.TB, b *custody.Book, s harness.SessionID) []custody.Entry {
	t.Helper()
	all, err := b.Of(s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnEntryIsWhatWasRecordedAndShowsItselfAsJSON(t *testing.T) {
	t.Parallel()
	b, cmd := open(t), sleeper(t)
	ref := custody.Ref(cmd.Process.Pid)
	ref.Handle = "cgroup/x"
	e := record(t, b, "ses_a", custody.Runner, ref)
	again, err := custody.Open(b.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if got := of(t, again, "ses_a"); len(got) != 1 || got[0] != e {
		t.Errorf("the book has %+v, want %+v", got, e)
	}
	if got := of(t, again, "ses_"); len(got) != 0 {
		t.Errorf("another session has %+v", got)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"session_id", "turn_id", "role", "pid", "started", "handle", "socket", "since"} {
		if fields[name] == nil {
			t.Errorf("%s is missing from %s", name, text)
		}
	}
	if err := b.Forget(e); err != nil || len(of(t, b, "ses_a")) != 0 {
		t.Errorf("after Forget: %v", err)
	}
	if err := b.Forget(e); err != nil {
		t.Errorf("Forget again: %v", err)
	}
}

func TestAnEntryWithAnotherStartOrBootIsNotBelievedAndNobodyIsKilled(t *testing.T) {
	t.Parallel()
	b, cmd := open(t), sleeper(t)
	ref := custody.Ref(cmd.Process.Pid)
	ref.Started++
	e := record(t, b, "ses_a", custody.Runner, ref)
	rebooted := e
	rebooted.Started--
	rebooted.Boot = "another"
	text, err := json.Marshal(rebooted)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(b.Dir())
	if err != nil {
		t.Fatal(err)
	}
	name := files[0].Name()
	name = name[:strings.LastIndex(name, "-")+1] + strconv.FormatUint(rebooted.Started, 10) + ".json"
	if err := os.WriteFile(filepath.Join(b.Dir(), name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if e.Alive() || rebooted.Alive() {
		t.Error("a process is believed that is another")
	}
	killed, err := b.Reconcile(t.Context(), func(custody.Entry) bool { return false })
	if err != nil || len(killed) != 0 {
		t.Errorf("killed %+v, %v", killed, err)
	}
	if left, err := os.ReadDir(b.Dir()); err != nil || len(left) != 0 {
		t.Errorf("entries are left: %v %v", left, err)
	}
	if !(custody.Entry{ProcessRef: custody.Ref(cmd.Process.Pid), Boot: bootOf(t, b)}).Alive() {
		t.Error("the process that now has the number was killed")
	}
}

// bootOf is what the book writes for this boot.
func bootOf(t testing.TB, b *custody.Book) string {
	t.Helper()
	e := record(t, b, "ses_boot", custody.Agent, harness.ProcessRef{PID: 1})
	if err := b.Forget(e); err != nil {
		t.Fatal(err)
	}
	return e.Boot
}

func TestReconcileKeepsWhatIsNeededKillsWhatIsNotAndForgetsTheDead(t *testing.T) {
	t.Parallel()
	b := open(t)
	needed, orphan, dead := sleeper(t), sleeper(t), sleeper(t)
	keep := record(t, b, "ses_a", custody.Runner, custody.Ref(needed.Process.Pid))
	lost := record(t, b, "ses_b", custody.Agent, custody.Ref(orphan.Process.Pid))
	record(t, b, "ses_c", custody.Runner, custody.Ref(dead.Process.Pid))
	_ = dead.Process.Kill()
	_ = dead.Wait()
	if err := os.WriteFile(filepath.Join(b.Dir(), "ses_d@1-1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	killed, err := b.Reconcile(t.Context(), func(e custody.Entry) bool { return e.Session == "ses_a" })
	if err != nil || !slices.Equal(killed, []custody.Entry{lost}) {
		t.Errorf("killed %+v, %v; want %+v", killed, err, lost)
	}
	if all, err := b.All(); err != nil || !slices.Equal(all, []custody.Entry{keep}) {
		t.Errorf("the book has %+v, %v; want %+v", all, err, keep)
	}
	if lost.Alive() || !keep.Alive() {
		t.Error("the wrong one was killed")
	}
}

func TestAProcessRunsOnlyWhenItIsInTheBook(t *testing.T) {
	t.Parallel()
	b, cmd := open(t), sleeper(t)
	if err := b.Before("ses_a", "trn_1")(custody.Ref(cmd.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if got := of(t, b, "ses_a"); len(got) != 1 || got[0].Role != custody.Agent || got[0].Turn != "trn_1" {
		t.Errorf("the book has %+v", got)
	}
	if err := os.RemoveAll(b.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := b.Before("ses_a", "trn_1")(custody.Ref(cmd.Process.Pid)); err == nil {
		t.Error("a process may run that could not be recorded")
	}
	if err := custody.Kill(context.Background(), custody.Entry{ProcessRef: harness.ProcessRef{PID: 1}}); err != nil {
		t.Errorf("what is not believed is not killed, and that is fine: %v", err)
	}
}
