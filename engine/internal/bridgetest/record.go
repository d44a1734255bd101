package bridgetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
)

// A story is what was said between an engine and the program's processes in one
// scene. In a directory it is a file for each process; in testdata it is a txtar.
// Its lines: "args JSON" if the command line belongs to it, "> JSON" to the program, "< JSON" from it, and at the end
// "exit CODE" or "killed".

// next is the number of this process of the story, from 1.
func next(dir string) int {
	for n := 1; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, "process-"+strconv.Itoa(n)), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			return n
		}
		if !os.IsExist(err) {
			return 0
		}
	}
}

// Record runs a program and writes down what is said. It returns its exit code.
func (d *Dialect) Record(dir string, in io.Reader, out, errs io.Writer, program string, args ...string) int {
	f, err := os.Create(filepath.Join(dir, strconv.Itoa(next(dir))))
	if err != nil {
		return 70
	}
	var mu sync.Mutex
	note := func(mark string, line []byte) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(f, "%s %s\n", mark, bytes.TrimSpace(line))
	}
	if len(d.Flags) > 0 {
		flags, err := json.Marshal(args)
		if err != nil {
			return 70
		}
		note("args", flags)
	}
	cmd := exec.Command(program, args...)
	cmd.Stderr = errs
	theirs, err := cmd.StdinPipe()
	if err != nil {
		return 70
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return 70
	}
	if err := cmd.Start(); err != nil {
		return 70
	}
	var both sync.WaitGroup // nobody waits: the process ends
	both.Go(func() {
		pass(in, theirs, func(b []byte) { note(">", b) })
		theirs.Close()
	})
	pass(said, out, func(b []byte) { note("<", b) })
	_ = cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		note("killed", nil)
		return 128 + int(s.Signal())
	}
	note("exit", []byte(strconv.Itoa(cmd.ProcessState.ExitCode())))
	return cmd.ProcessState.ExitCode()
}

func pass(from io.Reader, to io.Writer, note func([]byte)) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			note(line)
			_, _ = to.Write(line)
		}
		if err != nil {
			return
		}
	}
}

// temporary is the directory of a process that wants a short one.
var temporary = regexp.MustCompile(`/tmp/hc\d+`)

// cleaned makes a story the same on every machine, and shorter.
func (d *Dialect) cleaned(b []byte, work string) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		line = bytes.ReplaceAll(line, []byte(work), []byte("$WORK"))
		line = temporary.ReplaceAll(line, []byte("$$TMP"))
		mark, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if string(mark) == "<" {
			var m map[string]any
			numbers := json.NewDecoder(bytes.NewReader(rest))
			numbers.UseNumber()
			if numbers.Decode(&m) == nil {
				if !d.Scrub(m) {
					continue
				}
				if short, err := json.Marshal(m); err == nil {
					rest = short
				}
			}
		}
		fmt.Fprintf(&out, "%s\n", bytes.TrimSpace(append(append(mark, ' '), rest...)))
	}
	return out.Bytes()
}
