// Package objecttest runs the accumulators of the npm package assistant-stream,
// so that tests can ask what a JavaScript client makes of our frames.
//
// It needs node and the packages installed by
//
//	npm ci --prefix internal/object/testdata/node
//
// Without them a test is skipped, or fails where CI=true.
package objecttest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Generation names the accumulators whose rules differ.
type Generation string

const (
	A Generation = "A" // 0.2.24: until 0.3.26
	B Generation = "B" // 0.3.31: refuses unsafe path segments
	C Generation = "C" // 0.3.44: canonical indices, strict or lax
)

// Process is a running node with any number of accumulators. Its methods end
// the test if node does not answer, and may be called by several goroutines.
type Process struct {
	tb testing.TB

	mu   sync.Mutex // guards the fields below
	in   io.Writer
	out  *bufio.Reader
	made int
}

// Node starts node. It ends with tb.
func Node(tb testing.TB) *Process {
	tb.Helper()
	dir := folder(tb)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "assistant-stream")); err != nil {
		missing(tb, "assistant-stream is not installed: npm ci --prefix internal/object/testdata/node")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing(tb, "node is not installed")
	}
	cmd := exec.Command(node, filepath.Join(dir, "driver.mjs"))
	cmd.Stderr = tb.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close() // the driver ends with its input
		if err := cmd.Wait(); err != nil {
			tb.Errorf("node: %v", err)
		}
	})
	return &Process{tb: tb, in: in, out: bufio.NewReader(out)}
}

func missing(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

// folder finds testdata/node from wherever in the module the test runs.
func folder(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "internal", "object", "testdata", "node")
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// Normal returns doc as JavaScript writes it after reading it: numbers and
// strings spelled its way, keys in its order.
func (p *Process) Normal(doc []byte) []byte {
	p.tb.Helper()
	out, err := p.ask(map[string]any{"normal": string(doc)})
	if err != nil {
		p.tb.Fatalf("normal %s: %v", doc, err)
	}
	return out
}

// Secure returns the error with which the stream decoders drop doc.
func (p *Process) Secure(doc []byte) error {
	p.tb.Helper()
	_, err := p.ask(map[string]any{"secure": string(doc)})
	return err
}

// ask returns what JavaScript threw as an error.
func (p *Process) ask(request map[string]any) ([]byte, error) {
	p.tb.Helper()
	line, err := json.Marshal(request)
	if err != nil {
		p.tb.Fatal(err)
	}
	p.mu.Lock()
	_, err = p.in.Write(append(line, '\n'))
	var reply []byte
	if err == nil {
		reply, err = p.out.ReadBytes('\n')
	}
	p.mu.Unlock()
	var answer struct{ Error, JSON string }
	if err == nil {
		err = json.Unmarshal(reply, &answer)
	}
	if err != nil {
		p.tb.Fatalf("node: %v", err)
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return []byte(answer.JSON), nil
}
