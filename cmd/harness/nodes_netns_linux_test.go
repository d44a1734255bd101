package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"harness"
	"harness/node/nodetest"
	"harness/store/postgres/postgrestest"
)

// farAway is a network namespace in which nothing is but the machine itself. What
// this machine's other tests see of the network does not change with it. The test
// is skipped where nobody may make one.
type farAway struct {
	t    testing.TB
	name string // of the namespace
}

func newFarAway(t testing.TB, n int) *farAway {
	t.Helper()
	f := &farAway{t: t, name: fmt.Sprintf("h%d.%d", os.Getpid(), n)}
	for _, tool := range []string{"ip", "iptables"} {
		if _, err := exec.LookPath(tool); err != nil {
			postgrestest.Unable(t, "no %s", tool)
		}
	}
	if out, err := exec.Command("ip", "netns", "add", f.name).CombinedOutput(); err != nil {
		postgrestest.Unable(t, "no network namespace: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", f.name).Run() })
	if out, err := f.command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("no loopback: %v: %s", err, out)
	}
	return f
}

// command is one that runs there.
func (f *farAway) command(args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", f.name}, args...)...)
}

// listen listens there and accepts here: a socket stays in the namespace that its
// thread was in when it was made.
func (f *farAway) listen() net.Listener {
	f.t.Helper()
	type made struct {
		l   net.Listener
		err error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread() // never unlocked: nobody else runs on that thread afterwards
		there, err := os.Open(filepath.Join("/run/netns", f.name))
		if err == nil {
			defer there.Close()
			err = unix.Setns(int(there.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			done <- made{err: err}
			return
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		done <- made{l, err}
	}()
	m := <-done
	if m.err != nil {
		f.t.Fatalf("listen in %s: %v", f.name, m.err)
	}
	return m.l
}

// drop loses every packet that is sent to a port there, or from it.
func (f *farAway) drop(which, port string) (mend func()) {
	f.t.Helper()
	rule := []string{"OUTPUT", "-p", "tcp", which, port, "-j", "DROP"}
	filter := func(what string) *exec.Cmd {
		return f.command(append([]string{"iptables", what}, rule...)...)
	}
	if out, err := filter("-I").CombinedOutput(); err != nil {
		postgrestest.Unable(f.t, "no packet filter: %v: %s", err, out)
	}
	mend = func() { filter("-D").Run() }
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
	n := 0
	for name, lost := range map[string][]string{"NothingArrives": {"--dport"}, "NothingComesBack": {"--sport"}, "Both": {"--dport", "--sport"}} {
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
			withinTwoLeases(t, func() time.Duration { return f.replaced(b, url, file, lost) })
		})
	}
}

// replaced cuts a node off in the middle of a turn, and returns how long it took
// until b had it.
func (f *farAway) replaced(b *process, url, file string, lost []string) (took time.Duration) {
	t := f.t
	t.Helper()
	l := f.listen()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	wire := postgrestest.NewWallAt(t, url, l)
	cmd := invocation(t, "stdio", "--store", wire.URL, "--engine", "script:"+file, "--lease", nodeLease.String())
	there := f.command(cmd.Args...)
	cmd.Path, cmd.Args = there.Path, there.Args
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
	for _, which := range lost {
		mends = append(mends, f.drop(which, port))
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
