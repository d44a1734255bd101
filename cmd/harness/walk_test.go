package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// step is a line of a walk-through, and what it must print.
type step struct {
	line  int
	shell string
	wants []string
}

// steps are the lines of the sh blocks of a page.
func steps(page string) (list []step) {
	inside := false
	for i, line := range strings.Split(page, "\n") {
		want, expects := strings.CutPrefix(line, "# → ")
		switch {
		case line == "```sh":
			inside = true
		case line == "```":
			inside = false
		case inside && expects:
			last := &list[len(list)-1]
			last.wants = append(last.wants, want)
		case inside && line != "":
			list = append(list, step{line: i + 1, shell: line})
		}
	}
	return list
}

// docs/http.md is executed line by line, by the shell, against a real server.
func TestTheWalkWithCurlWorks(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is missing", tool)
			}
			t.Skipf("%s is missing", tool)
		}
	}
	page, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "--data", t.TempDir(), "--engine", "script")
	sh := exec.Command("bash")
	sh.Dir = t.TempDir()
	sh.Env = append(os.Environ(), "H="+p.http, "TOKEN="+p.token)
	in, err := sh.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	sh.Stderr = sh.Stdout
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	giveUp := time.AfterFunc(2*time.Minute, func() { sh.Process.Kill() })
	defer func() {
		giveUp.Stop()
		in.Close()
		sh.Wait()
	}()
	lines := bufio.NewReader(out)
	list := steps(string(page))
	for _, s := range list {
		text, code := s.run(t, in, lines)
		if code != "0" {
			t.Fatalf("docs/http.md:%d: %s\nended with %s\n%s\n%s", s.line, s.shell, code, text, p.errors())
		}
		for _, want := range s.wants {
			if !strings.Contains(text, want) {
				t.Errorf("docs/http.md:%d: %s\nwant %q in\n%.3000s", s.line, s.shell, want, text)
			}
		}
	}
	if len(list) < 40 {
		t.Errorf("only %d lines were found", len(list))
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.errors())
	}
}

// run gives the shell a line and returns what it printed and its exit code.
func (s step) run(t *testing.T, in io.Writer, out *bufio.Reader) (text, code string) {
	t.Helper()
	mark := fmt.Sprintf("== line %d: ", s.line)
	if _, err := fmt.Fprintf(in, "%s\ncode=$?; echo; echo \"%s$code\"\n", s.shell, mark); err != nil {
		t.Fatalf("docs/http.md:%d: %v", s.line, err)
	}
	var b strings.Builder
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("docs/http.md:%d: %s: %v\n%s", s.line, s.shell, err, b.String())
		}
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return b.String(), strings.TrimSpace(rest)
		}
		b.WriteString(line)
	}
}
