package postgres_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/store/postgres/postgrestest"
)

// node is another process with the store open, running one of the tests below.
type node struct {
	*exec.Cmd
	in    io.WriteCloser
	lines chan string
}

func startNode(t *testing.T, test, url, name string) *node {
	t.Helper()
	n := &node{Cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$"), lines: make(chan string, 4096)}
	n.Env = append(os.Environ(), "HARNESS_TEST_URL="+url, "HARNESS_TEST_NAME="+name)
	n.Stderr = os.Stderr
	out, err := n.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if n.in, err = n.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		defer close(n.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			n.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		n.in.Close()
		n.Process.Kill()
		<-reading
		n.Wait()
	})
	return n
}

// say waits for a line that begins with a word and returns the rest of it.
func (n *node) say(t *testing.T, word string) string {
	t.Helper()
	for {
		select {
		case line, open := <-n.lines:
			if !open {
				t.Fatalf("the process ended before it said %q", word)
			}
			if rest, ok := strings.CutPrefix(line, word); ok {
				return strings.TrimSpace(rest)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the process does not say %q", word)
		}
	}
}

const raced = 150

// TestOfTwoProcessesOneWinsEachPosition lets two processes append to one log as
// fast as they can.
func TestOfTwoProcessesOneWinsEachPosition(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	st := open(t, url)
	mustAppend(t, st, said("a", 0, "begin"))
	winners := map[harness.Seq]string{1: "begin"}
	nodes := map[string]*node{}
	for _, name := range []string{"one", "two"} {
		nodes[name] = startNode(t, "TestRaceAsNode", url, name)
	}
	for _, n := range nodes {
		n.say(t, "ready")
	}
	for _, n := range nodes {
		fmt.Fprintln(n.in, "go")
	}
	wins := map[string]int{}
	for name, n := range nodes {
		for line := range n.lines {
			var seq harness.Seq
			if _, err := fmt.Sscanf(line, "won %d", &seq); err != nil {
				continue
			}
			if who, taken := winners[seq]; taken {
				t.Fatalf("%s and %s both won %d", who, name, seq)
			}
			winners[seq] = name
			wins[name]++
		}
	}
	n := harness.Seq(0)
	for e, err := range st.Read(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if got := e.Payload.(*harness.Token).Text; got != winners[n] {
			t.Fatalf("%d was won by %q, the log says %q", n, winners[n], got)
		}
	}
	if int(n) != len(winners) || n < raced {
		t.Fatalf("%d events, %d won", n, len(winners))
	}
	t.Logf("%d positions, wins %v", n, wins)
}

// TestRaceAsNode is the process of the test above.
func TestRaceAsNode(t *testing.T) {
	url, name := os.Getenv("HARNESS_TEST_URL"), os.Getenv("HARNESS_TEST_NAME")
	if url == "" {
		t.Skip("only as a child process")
	}
	st := open(t, url)
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	for head := harness.Seq(1); head < raced; {
		switch err := st.Append(t.Context(), said("a", head, name)); {
		case err == nil:
			head++
			fmt.Println("won", head)
		case errors.Is(err, harness.ErrConflict):
			var readErr error
			if head, readErr = read(t, st, "a"); readErr != nil {
				t.Fatal(readErr)
			}
		default:
			t.Fatal(err)
		}
	}
}

// TestAStoppedOwnerStepsDownWhenItWakes stops a process that owns a session for
// longer than its lease, by SIGSTOP, and lets it go on.
func TestAStoppedOwnerStepsDownWhenItWakes(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	st := open(t, url)
	mustAppend(t, st, said("a", 0, "begin"))
	if err := st.Join(t.Context(), "here", time.Hour); err != nil {
		t.Fatal(err)
	}
	owner := startNode(t, "TestOwnAsNode", url, "there")
	for range 3 {
		owner.say(t, "beat")
	}
	if l, err := st.Claim(t.Context(), "here", "a"); !errors.Is(err, harness.ErrLocked) || l.Owner != "there" {
		t.Fatalf("a claim of a live owner's session: %+v, %v", l, err)
	}
	if err := owner.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	var lease harness.Lease
	until(t, func() (done bool) {
		var err error
		lease, err = st.Claim(t.Context(), "here", "a")
		return err == nil
	}, "the takeover")
	took := time.Since(stopped)
	head, err := read(t, st, "a")
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, st, said("a", head, "here"))
	if err := owner.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	owner.say(t, "append refused")
	owner.say(t, "beat refused")
	if again, err := st.Claim(t.Context(), "here", "a"); err != nil || again != lease {
		t.Fatalf("after the old owner woke up: %+v, %v, want %+v", again, err, lease)
	}
	if n, err := read(t, st, "a"); err != nil || n != head+1 {
		t.Fatalf("the log has %d events, %v, want %d", n, err, head+1)
	}
	t.Logf("taken over %v after the stop, ttl %v", took.Round(time.Millisecond), nodeTTL)
}

const nodeTTL = time.Second

// TestOwnAsNode is the process of the test above: it owns, beats and appends
// until it is refused.
func TestOwnAsNode(t *testing.T) {
	url, name := os.Getenv("HARNESS_TEST_URL"), os.Getenv("HARNESS_TEST_NAME")
	if url == "" {
		t.Skip("only as a child process")
	}
	st := open(t, url)
	if err := st.Join(t.Context(), name, nodeTTL); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Claim(t.Context(), name, "a"); err != nil {
		t.Fatal(err)
	}
	every := time.NewTicker(nodeTTL / 5)
	defer every.Stop()
	for head := harness.Seq(1); ; head++ {
		if err := st.Append(t.Context(), said("a", head, name)); errors.Is(err, harness.ErrConflict) {
			fmt.Println("append refused")
			break
		} else if err != nil {
			t.Fatal(err)
		}
		<-every.C
		if err := st.Beat(t.Context(), name); err == nil {
			fmt.Println("beat")
		}
	}
	if err := st.Beat(t.Context(), name); errors.Is(err, harness.ErrConflict) {
		fmt.Println("beat refused")
	}
}
