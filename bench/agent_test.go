package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// agent is a server that speaks lines of JSON on its stdin and stdout: ours or
// another one.
type agent struct {
	tb      testing.TB
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	lines   *bufio.Reader
	errs    bytes.Buffer // what it logged
	started time.Time
}

// patience bounds every answer of an agent; none takes nearly as long.
const patience = 2 * time.Minute

// startAgent runs a program with no environment but what it is given, so that
// no key or setting of whoever measures reaches it.
func startAgent(tb testing.TB, dir string, env []string, name string, args ...string) *agent {
	tb.Helper()
	a := &agent{tb: tb, cmd: exec.Command(name, args...)}
	a.cmd.Dir = dir
	a.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	a.cmd.Stderr = &a.errs
	r, w, err := os.Pipe() // os/exec's own has no deadline
	if err != nil {
		tb.Fatal(err)
	}
	a.out, a.cmd.Stdout = r, w
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	a.lines = bufio.NewReaderSize(r, 1<<20)
	a.started = time.Now()
	err = a.cmd.Start()
	w.Close()
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func (a *agent) send(line string) {
	a.tb.Helper()
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		a.fail(err)
	}
}

// line is the next line; it holds until the next call.
func (a *agent) line() []byte {
	a.tb.Helper()
	line, err := a.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) { // the whole text at once; nobody counts in it
		line = append([]byte(nil), line...)
		var rest []byte
		rest, err = a.lines.ReadBytes('\n')
		line = append(line, rest...)
	}
	if err != nil {
		a.fail(err)
	}
	return line
}

// until reads up to and with the first line that has mark near its beginning.
func (a *agent) until(mark string) []byte {
	a.tb.Helper()
	a.wait()
	for {
		if line := a.line(); bytes.Contains(head(line), []byte(mark)) {
			return line
		}
	}
}

// wait gives the agent its time for what is read next.
func (a *agent) wait() {
	if err := a.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		a.tb.Fatal(err)
	}
}

func (a *agent) fail(err error) {
	a.tb.Helper()
	a.cmd.Process.Kill()
	a.cmd.Wait()
	a.tb.Fatalf("%s: %v\n%s", filepath.Base(a.cmd.Path), err, a.errs.Bytes())
}

// end closes the agent's stdin, which ends it, and waits.
func (a *agent) end() {
	a.tb.Helper()
	a.in.Close()
	if err := a.cmd.Wait(); err != nil {
		a.tb.Errorf("%s: %v\n%s", filepath.Base(a.cmd.Path), err, a.errs.Bytes())
	}
	a.out.Close()
}

// head is where a line says what it is.
func head(line []byte) []byte { return line[:min(len(line), 64)] }

// resident is the memory that the agent has, and the part of it that no file
// backs.
func (a *agent) resident() (all, anonymous int64) {
	a.tb.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.cmd.Process.Pid))
	if err != nil {
		a.tb.Fatal(err)
	}
	kB := func(field string) int64 {
		_, rest, _ := strings.Cut(string(b), "\n"+field+":")
		var n int64
		if _, err := fmt.Sscan(rest, &n); err != nil {
			a.tb.Fatalf("%s: %v", field, err)
		}
		return n << 10
	}
	return kB("VmRSS"), kB("RssAnon")
}

// cpu is the time that all the agent's threads have used, in ticks of 10 ms.
func (a *agent) cpu() time.Duration {
	a.tb.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.cmd.Process.Pid))
	if err != nil {
		a.tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ") // behind the name, which may have spaces
	fields := strings.Fields(rest)
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			a.tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
