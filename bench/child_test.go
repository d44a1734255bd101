package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// child is a process in a role, asked by lines of JSON on its stdin and
// answering each on its stdout.
type child struct {
	tb    testing.TB
	role  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

func startChild(tb testing.TB, role string) *child {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	c := &child{tb: tb, role: role, cmd: exec.Command(self)}
	c.cmd.Env = append(os.Environ(), roleVar+"="+role)
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	c.lines = bufio.NewReaderSize(out, 1<<20)
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return c
}

// ask sends a request and decodes the answer.
func (c *child) ask(q ask) answer {
	c.tb.Helper()
	b, err := json.Marshal(q)
	if err != nil {
		c.tb.Fatal(err)
	}
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.tb.Fatalf("%s: %v", c.role, err)
	}
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		c.tb.Fatalf("%s: %s: %v", c.role, b, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		c.tb.Fatalf("%s: %s: %v", c.role, line, err)
	}
	if a.Error != "" {
		c.tb.Fatalf("%s: %s: %s", c.role, b, a.Error)
	}
	return a
}

// end closes the child's stdin, which ends it, and waits.
func (c *child) end() {
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		c.tb.Errorf("%s: %v", c.role, err)
	}
}

// serveAsks answers what comes on stdin until it ends.
func serveAsks(do func(ask) (answer, error)) error {
	in := json.NewDecoder(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		var q ask
		if err := in.Decode(&q); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		a, err := do(q)
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

// ask is a request to a child; only the fields of its kind count.
type ask struct {
	Do string `json:"do"`

	Addr   string `json:"addr,omitempty"` // dial
	Path   string `json:"path,omitempty"` // with a %d: the number of the connection
	Token  string `json:"token,omitempty"`
	N      int    `json:"n,omitempty"`
	First  int    `json:"first,omitempty"`
	Kind   string `json:"kind,omitempty"`   // what is counted: see counters
	Buffer int    `json:"buffer,omitempty"` // of the socket; 0 is the kernel's choice
	Record int    `json:"record,omitempty"` // so many keep what they read
	Size   int    `json:"size,omitempty"`   // bytes of one message, where that is how they are counted

	Total int64  `json:"total,omitempty"` // await
	Text  string `json:"text,omitempty"`  // send
}

// answer is a child's.
type answer struct {
	Error string `json:"error,omitempty"`
	Addr  string `json:"addr,omitempty"`

	Deltas int64 `json:"deltas"` // logical ones, summed over all connections
	Frames int64 `json:"frames"`
	Bytes  int64 `json:"bytes"`
	States int64 `json:"states"` // whole states
	Closed int64 `json:"closed"` // connections that ended
	Seq    int64 `json:"seq"`    // the furthest connection's
	At     int64 `json:"at"`     // monotonic ns

	Samples []sample `json:"samples,omitempty"`
	Raw     [][]byte `json:"raw,omitempty"` // what a recorded connection read

	RSS        int64 `json:"rss"`
	Heap       int64 `json:"heap"`
	Stacks     int64 `json:"stacks"`
	Goroutines int   `json:"goroutines"`
	CPU        int64 `json:"cpu"` // ns
	Awake      int   `json:"awake"`
}

// sample is when a delta that leads to seq was read.
type sample struct {
	Seq int64 `json:"s"`
	At  int64 `json:"t"`
}
