package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
	"harness/node/nodetest"
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

func newFarAway(t testing.TB, n int) *farAway {
	t.Helper()
	id := fmt.Sprintf("h%d%d", os.Getpid()%100000, n)
	f := &farAway{t: t, name: id, wire: id + "a", here: fmt.Sprintf("10.213.%d.1", n), far: fmt.Sprintf("10.213.%d.2", n)}
	for _, tool := range []string{"ip", "iptables"} {
		if _, err := exec.LookPath(tool); err != nil {
			postgrestest.Unable(t, "no %s", tool)
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
				postgrestest.Unable(t, "no network namespace: ip %v: %v: %s", args, err, out)
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
		postgrestest.Unable(f.t, "no packet filter: %v: %s", err, out)
	}
	mend = func() { exec.Command("iptables", append([]string{"-D"}, rule...)...).Run() }
	f.t.Cleanup(mend)
	return mend
}

// TestANodeFarAwayIsReplaced runs a node in a network namespace of its own, and
// loses all packets between it and the database, in one direction or in both:
// another node takes its turn over within two leases, and it comes back without
// harm. Meanwhile clients of both send prompts to one session, and trust only
// what was acknowledged.
func TestANodeFarAwayIsReplaced(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may make a network namespace")
	}
	n := 100
	for name, chains := range map[string][]string{"NothingArrives": {"INPUT"}, "NothingComesBack": {"OUTPUT"}, "Both": {"INPUT", "OUTPUT"}} {
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
			b := startNode(t, url, file, "--lease", nodeLease.String())
			withinTwoLeases(t, func() time.Duration { return f.replaced(b, url, file, chains) })
		})
	}
}

// replaced cuts a node off in the middle of a turn, and returns how long it took
// until b had it.
func (f *farAway) replaced(b *process, url, file string, chains []string) (took time.Duration) {
	t := f.t
	t.Helper()
	wire := postgrestest.NewWallAt(t, url, f.here)
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Fatal(err)
	}
	cmd := invocation(t, "stdio", "--store", wire.URL, "--engine", "script:"+file, "--lease", nodeLease.String())
	cmd.Path, cmd.Args = ip, append([]string{"ip", "netns", "exec", f.name}, cmd.Args...)
	a := openLines(t, cmd)
	defer a.in.Close()
	thread, list := a.do("thread.threadId", "thread.create", ""), harness.SessionID(a.do("thread.threadId", "thread.create", ""))
	talk := b.follow(thread)
	a.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"long"}]`, thread)
	talk.until("words", nth(5, "token"))

	h := &nodetest.History{}
	var mended, stop, back atomic.Bool
	var clients sync.WaitGroup
	clients.Go(func() { // it waits while the node cannot answer
		for n := 0; !stop.Load() || !back.Load(); n++ {
			key := fmt.Sprintf("far.%d", n)
			was := mended.Load()
			h.Submit(0, list, key, func() (harness.Seq, error) {
				_, err := a.try("turn.start", `"threadId":%q,"input":[{"type":"text","text":%q}],"clientKey":%q`, list, key, key)
				if err == nil && was {
					back.Store(true)
				}
				return 0, err
			})
			if a.cmd.ProcessState != nil || n > 10_000 {
				return
			}
		}
	})
	clients.Go(func() {
		every := time.NewTicker(10 * time.Millisecond)
		defer every.Stop()
		for n := 0; !stop.Load(); n++ {
			key := fmt.Sprintf("near.%d", n)
			h.Submit(1, list, key, func() (harness.Seq, error) { return b.prompt(list, key) })
			h.Read(2, list, b.prompts)
			<-every.C
		}
	})
	var mends []func()
	for _, chain := range chains {
		mends = append(mends, f.drop(chain))
	}
	cut := time.Now()
	talk.until("the end of the turn", kind("turn_end"))
	took = time.Since(cut)
	b.post(t, "/chat/sessions/"+thread+"/turns", []byte(`{"prompt":"hello"}`))
	talk.until("another turn", nth(2, "turn_end"))
	for _, mend := range mends {
		mend()
	}
	mended.Store(true)
	eventually(t, "the node takes prompts again", back.Load)
	stop.Store(true)
	clients.Wait()
	a.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"again"}]`, thread)
	talk.until("a turn of the node that was away", nth(3, "turn_end"))
	if n := len(of(talk.told(), "user_message")); n != 3 {
		t.Errorf("%d prompts, want 3", n)
	}
	all, known := h.Known()
	t.Logf("%d operations, %d with a known outcome", all, known)
	h.Check(t, b.prompts)
	return took
}
