package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness/internal/object"
	"harness/store/postgres/postgrestest"
)

// nodeLease is long beside what a busy machine keeps a process waiting.
const nodeLease = 2 * time.Second

// TestAnOwnerThatGoesInMidStreamIsReplaced kills the owner of a running turn, or
// stops it for longer than its lease, while clients watch on another node: those
// miss nothing and hear nothing twice.
func TestAnOwnerThatGoesInMidStreamIsReplaced(t *testing.T) {
	t.Parallel()
	const script = "when long\nsay begun\nstream 100000 5ms word\nelse when ask\nask bash {\"command\":\"x\"} => ran\nelse\necho\nend"
	for how, signal := range map[string]syscall.Signal{"Killed": syscall.SIGKILL, "Stopped": syscall.SIGSTOP} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			nodes := startNodes(t, schema(t), script, 2, "--lease", nodeLease.String())
			a, b := nodes[0], nodes[1]
			id, asks := a.make(t, ""), a.make(t, "")
			talk, question := b.follow(id), b.follow(asks)
			a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"long"}`))
			a.post(t, "/chat/sessions/"+asks+"/turns", []byte(`{"prompt":"ask"}`))
			talk.until("words", nth(5, "token"))
			request := question.until("the question", kind("approval_required")).id("request_id")
			if err := a.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			end := talk.until("the end of the turn", kind("turn_end"))
			if end.id("reason") != "interrupted" {
				t.Errorf("the turn ended as %v", end)
			}
			b.post(t, "/approvals/"+request, []byte(`{"decision":"allow"}`))
			question.until("the end of the turn that was asked for", kind("turn_end"))
			b.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"hello"}`))
			talk.until("another turn", nth(2, "turn_end"))
			if signal == syscall.SIGSTOP {
				here := len(talk.told())
				a.cmd.Process.Signal(syscall.SIGCONT)
				talk.move(a) // which had lost it
				a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"again"}`))
				talk.until("a turn on the node that was stopped", nth(3, "turn_end"))
				if n := len(of(talk.told()[:here], "user_message")); n != 2 {
					t.Errorf("%d prompts before the node went on", n)
				}
			}
			for _, f := range []*follower{talk, question} {
				starts, ends := of(f.told(), "turn_start"), of(f.told(), "turn_end")
				if f == question && (len(ends) != 1 || len(starts) != 2) || f == talk && len(starts) != len(ends) {
					t.Errorf("%d starts and %d ends", len(starts), len(ends))
				}
			}
			only(t, question.told(), "tool_result")
		})
	}
}

// TestATakeoverTakesLessThanTwoLeases measures it, from when the owner is killed,
// stopped, or cut off from the database in one direction or both, to when a
// watcher on another node hears that its turn has ended. Everywhere but in CI it is
// killed or cut off; TestAnOwnerThatGoesInMidStreamIsReplaced stops it, and
// TestANodeThatIsCutOffIsReplaced of node has every direction.
func TestATakeoverTakesLessThanTwoLeases(t *testing.T) {
	t.Parallel()
	signal := func(s syscall.Signal) func(*process, *postgrestest.Wall) error {
		return func(a *process, _ *postgrestest.Wall) error { return a.cmd.Process.Signal(s) }
	}
	cut := func(way postgrestest.Way) func(*process, *postgrestest.Wall) error {
		return func(_ *process, w *postgrestest.Wall) error { w.Cut(way); return nil }
	}
	for how, fault := range map[string]func(*process, *postgrestest.Wall) error{
		"Killed": signal(syscall.SIGKILL), "Stopped": signal(syscall.SIGSTOP),
		"CutOff": cut(postgrestest.BothWays), "NothingArrives": cut(postgrestest.ToDatabase), "NothingComesBack": cut(postgrestest.FromDatabase),
	} {
		if os.Getenv("LONG")+os.Getenv("CI") == "" && how != "Killed" && how != "CutOff" {
			continue
		}
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url := schema(t)
			file := filepath.Join(t.TempDir(), "play.script")
			if err := os.WriteFile(file, []byte("say begun\nhang"), 0o600); err != nil {
				t.Fatal(err)
			}
			b := startNode(t, url, file, "--lease", nodeLease.String())
			withinTwoLeases(t, func() time.Duration {
				wall := postgrestest.NewWall(t, url)
				a := startNode(t, wall.URL, file, "--lease", nodeLease.String())
				id := a.make(t, "")
				talk := b.follow(id)
				a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"go"}`))
				talk.until("words", kind("token"))
				gone := time.Now()
				if err := fault(a, wall); err != nil {
					t.Fatal(err)
				}
				talk.until("the end of the turn", kind("turn_end"))
				took := time.Since(gone)
				a.kill()
				return took
			})
		})
	}
}

// takeoverTries is more than a busy machine is unlucky.
const takeoverTries = 5

// withinTwoLeases fails if no takeover takes less than that. A machine that is
// busy with other things may need several tries for what an idle one does at
// once.
func withinTwoLeases(t testing.TB, takeover func() time.Duration) {
	t.Helper()
	for try := 1; ; try++ {
		took := takeover()
		t.Logf("taken over after %v, the lease is %v", took.Round(time.Millisecond), nodeLease)
		if took < 2*nodeLease {
			return
		}
		if try == takeoverTries {
			t.Fatalf("never within two leases in %d tries", try)
		}
	}
}

// roam is live on one node after the other, until ctx ends.
func (w *witness) roam(ctx context.Context, pick func() *process, rng *rand.Rand) {
	for ctx.Err() == nil {
		c, err := pick().dial("?userId=" + w.user)
		if err != nil { // it is down, or has just been stopped
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		leave := context.AfterFunc(ctx, func() { c.ws.CloseNow() })
		tire := time.AfterFunc(time.Duration(100+rng.IntN(900))*time.Millisecond, func() { c.ws.CloseNow() })
		var tree object.Tree
		for first := true; ; {
			f, err := c.read()
			if err != nil || f.Type == "error" && unsure(f.Code) || !w.take(c, &tree, f, &first, rng) {
				break
			}
		}
		tire.Stop()
		leave()
		c.ws.CloseNow()
	}
}

// unsure reports whether a refusal leaves open what became of the command: the
// client says it again, under its id.
func unsure(code string) bool {
	return code == "storage" || code == "unavailable" || code == "internal"
}

// TestNodesUnderFaultsLoseNothing kills nodes and starts others, stops nodes for
// longer than their lease, cuts them off from the database in both directions and
// in one, and kills the database, while clients talk to
// whichever node they find and trust only acknowledgements.
func TestNodesUnderFaultsLoseNothing(t *testing.T) {
	t.Parallel()
	faults := []int{0, 3} // TestHistoriesOfProcessesAreLinearizable has each
	if os.Getenv("CI") != "" {
		faults = []int{0, 1, 2, 3, 4}
	}
	if os.Getenv("LONG") != "" {
		faults = faults[:0]
		for round := range 60 {
			faults = append(faults, round)
		}
	}
	rounds := len(faults)
	server := postgrestest.StartAlone(t)
	url := server.URL(t)
	file := filepath.Join(t.TempDir(), "kill.script")
	if err := os.WriteFile(file, []byte(killScript), 0o600); err != nil {
		t.Fatal(err)
	}
	var walls []*postgrestest.Wall
	for range 3 {
		walls = append(walls, postgrestest.NewWall(t, url))
	}
	open := func(i int) *process { return startNode(t, walls[i].URL, file, "--lease", nodeLease.String()) }
	nodes := []*process{open(0), open(1), open(2)}
	var mu sync.Mutex // guards nodes
	pick := func(i int) *process {
		mu.Lock()
		defer mu.Unlock()
		return nodes[i]
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var witnesses []*witness
	var talking sync.WaitGroup
	for i := range 4 {
		w := newWitness(t, fmt.Sprintf("user%d", i))
		w.roams = true
		witnesses = append(witnesses, w)
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		talking.Go(func() { w.roam(ctx, func() *process { return pick(rng.IntN(3)) }, rng) })
	}
	rng := rand.New(rand.NewPCG(uint64(rounds), 9))
	pause := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	for _, round := range faults {
		pause(time.Duration(200+rng.IntN(300)) * time.Millisecond)
		i := rng.IntN(3)
		switch round % 5 {
		case 0:
			pick(i).kill()
			fresh := open(i)
			mu.Lock()
			nodes[i] = fresh
			mu.Unlock()
		case 1:
			pick(i).cmd.Process.Signal(syscall.SIGSTOP)
			pause(nodeLease * 3 / 2)
			pick(i).cmd.Process.Signal(syscall.SIGCONT)
		case 2:
			server.Kill(t)
			server.Restart(t)
		case 3, 4:
			way := postgrestest.BothWays
			if round%5 == 4 {
				way = []postgrestest.Way{postgrestest.ToDatabase, postgrestest.FromDatabase}[round/5%2]
			}
			walls[i].Cut(way)
			pause(nodeLease * 3 / 2)
			walls[i].Mend()
		}
		if t.Failed() {
			break
		}
	}
	pause(time.Second)
	cancel()
	talking.Wait()
	if t.Failed() {
		for _, n := range nodes {
			t.Logf("a node says:\n%.4000s", n.errors())
		}
		return
	}
	prompts, decided := 0, 0
	for _, w := range witnesses {
		w.settle(nodes[rng.IntN(3)])
		prompts += len(w.acked)
		decided += len(w.decided)
	}
	t.Logf("%d faults, %d prompts and %d approvals acknowledged", rounds, prompts, decided)
	if prompts == 0 {
		t.Errorf("nothing was acknowledged, so nothing was tested")
	}
}
