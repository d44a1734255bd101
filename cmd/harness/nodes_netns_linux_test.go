package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"harness/store/postgres/postgrestest"
)

// farAway is a network namespace with one wire to this machine. The test is
// skipped where nobody may make one.
type farAway struct {
	t         testing.TB
	name      string // of the namespace
	wire      string // our end
	here, far string // addresses
}

// unable skips a test that has no network to cut; in CI, as root, it fails.
func unable(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" && os.Geteuid() == 0 {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func newFarAway(t testing.TB, n int) *farAway {
	t.Helper()
	id := fmt.Sprintf("h%d%d", os.Getpid()%100000, n)
	f := &farAway{t: t, name: id, wire: id + "a", here: fmt.Sprintf("10.213.%d.1", n), far: fmt.Sprintf("10.213.%d.2", n)}
	for _, tool := range []string{"ip", "iptables"} {
		if _, err := exec.LookPath(tool); err != nil {
			unable(t, "no %s", tool)
		}
	}
	for i, args := range [][]string{
		{"netns", "add", f.name},
		{"link", "add", f.wire, "type", "veth", "peer", "name", id + "b"},
		{"link", "set", id + "b", "netns", f.name},
		{"addr", "add", f.here + "/24", "dev", f.wire},
		{"link", "set", f.wire, "up"},
		{"netns", "exec", f.name, "ip", "addr", "add", f.far + "/24", "dev", id + "b"},
		{"netns", "exec", f.name, "ip", "link", "set", id + "b", "up"},
		{"netns", "exec", f.name, "ip", "link", "set", "lo", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			if i < 3 {
				unable(t, "no network namespace: ip %v: %v: %s", args, err, out)
			}
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
		if i == 0 {
			t.Cleanup(func() {
				exec.Command("ip", "link", "del", f.wire).Run()
				exec.Command("ip", "netns", "del", f.name).Run()
			})
		}
	}
	return f
}

// drop loses every packet in a direction: from there or to there.
func (f *farAway) drop(chain string) (mend func()) {
	f.t.Helper()
	rule := []string{chain, map[string]string{"INPUT": "-i", "OUTPUT": "-o"}[chain], f.wire, "-j", "DROP"}
	if out, err := exec.Command("iptables", append([]string{"-I"}, rule...)...).CombinedOutput(); err != nil {
		unable(f.t, "no packet filter: %v: %s", err, out)
	}
	mend = func() { exec.Command("iptables", append([]string{"-D"}, rule...)...).Run() }
	f.t.Cleanup(mend)
	return mend
}

// TestANodeFarAwayIsReplaced runs a node in a network namespace of its own, and
// loses all packets between it and the database, in one direction or in both:
// another node takes its turn over, and it comes back without harm.
func TestANodeFarAwayIsReplaced(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		unable(t, "only root may make a network namespace")
	}
	ways := map[string][]string{"NothingComesBack": {"OUTPUT"}, "Both": {"INPUT", "OUTPUT"}}
	if os.Getenv("LONG") != "" {
		ways["NothingArrives"] = []string{"INPUT"}
	}
	n := 100
	for name, chains := range ways {
		n++
		f := newFarAway(t, n)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.t = t
			url := schema(t)
			file := filepath.Join(t.TempDir(), "play.script")
			if err := os.WriteFile(file, []byte("when long\nsay begun\nstream 100000 5ms word\nelse\necho\nend"), 0o600); err != nil {
				t.Fatal(err)
			}
			wire := postgrestest.NewWallAt(t, url, f.here)
			cmd := invocation(t, "stdio", "--store", wire.URL, "--engine", "script:"+file, "--lease", nodeLease.String())
			cmd.Path, cmd.Args = "/usr/sbin/ip", append([]string{"ip", "netns", "exec", f.name}, cmd.Args...)
			if path, err := exec.LookPath("ip"); err == nil {
				cmd.Path = path
			}
			a := openLines(t, cmd)
			b := startNode(t, url, file, "--lease", nodeLease.String())
			thread := a.do("thread.threadId", "thread.create", "")
			talk := b.follow(thread)
			a.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"long"}]`, thread)
			talk.until("words", nth(5, "token"))
			var mends []func()
			for _, chain := range chains {
				mends = append(mends, f.drop(chain))
			}
			cut := time.Now()
			talk.until("the end of the turn", kind("turn_end"))
			t.Logf("taken over %v after the cut, the lease is %v", time.Since(cut).Round(time.Millisecond), nodeLease)
			b.post(t, "/chat/sessions/"+thread+"/turns", []byte(`{"prompt":"hello"}`))
			talk.until("another turn", nth(2, "turn_end"))
			for _, mend := range mends {
				mend()
			}
			eventually(t, "the node takes prompts again", func() bool {
				_, err := a.try("turn.start", `"threadId":%q,"input":[{"type":"text","text":"again"}],"clientKey":"once"`, thread)
				return err == nil
			})
			talk.until("a turn of the node that was away", nth(3, "turn_end"))
			if n := len(of(talk.told(), "user_message")); n != 3 {
				t.Errorf("%d prompts, want 3", n)
			}
		})
	}
}
