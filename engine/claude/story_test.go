package claude_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/tools/txtar"
)

// A story is what was said between the engine and the program's processes in
// one scene. In a directory it is a file for each process; in testdata it is a
// txtar. Its lines: "args JSON" first, then "> JSON" to the program, "< JSON"
// from it, and at the end "exit CODE" or "killed".

// next is the number of this process of the story, from 1.
func next(dir string) int {
	for n := 1; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, "process-"+strconv.Itoa(n)), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			return n
		}
	}
}

// record runs the program and writes down what is said.
func record(dir, program string, args []string) int {
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
	flags, _ := json.Marshal(args)
	note("args", flags)
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		return 70
	}
	go func() {
		pass(os.Stdin, in, func(b []byte) { note(">", b) })
		in.Close()
	}()
	pass(out, os.Stdout, func(b []byte) { note("<", b) })
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

// scrub makes a story the same on every machine, and shorter: what the program
// says about itself is cut down to what the engine reads.
func scrub(b []byte, paths map[string]string) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		for path, name := range paths {
			line = bytes.ReplaceAll(line, []byte(path), []byte(name))
		}
		if bytes.HasPrefix(line, []byte("< ")) {
			line = append([]byte("< "), trim(line[2:])...)
		}
		out.Write(append(bytes.TrimSpace(line), '\n'))
	}
	return out.Bytes()
}

// trimmed are fields of messages that are long and that nobody reads.
var trimmed = []string{
	"slash_commands", "agents", "skills", "plugins", "mcp_servers", "output_style", "capabilities", "messaging_socket_path", "memory_paths", "analytics_disabled",
	"claude_code_version", "fast_mode_state", "apiKeySource", "product_feedback_disabled", "terminal_slash_commands", "fast_mode_disabled_reason", "per_turn_effort_active", "additional_directories", "original_cwd", "output_file", "tool_result_meta",
}

func trim(line []byte) []byte {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return line
	}
	for _, name := range trimmed {
		delete(m, name)
	}
	if e, ok := m["event"].(map[string]any); ok {
		if d, ok := e["delta"].(map[string]any); ok && d["partial_json"] != nil {
			d["partial_json"] = "" // the whole comes after the pieces
		}
	}
	if r, ok := m["response"].(map[string]any); ok {
		if inner, ok := r["response"].(map[string]any); ok && inner["commands"] != nil {
			r["response"] = map[string]any{}
		}
		delete(r, "pending_permission_requests")
	}
	b, err := json.Marshal(m)
	if err != nil {
		return line
	}
	return b
}

// replay is the stand-in: it says what the program said, when it has heard what
// the program heard. What it hears must be what was recorded, but for made-up
// identifiers.
func replay(story string, args []string) int {
	archive, err := txtar.ParseFile(story)
	if err != nil {
		return fail("%v", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return fail("%v", err)
	}
	n := next(filepath.Join(cwd, ".harness", "claude"))
	for _, f := range archive.Files {
		if f.Name == strconv.Itoa(n) {
			s := &standin{names: map[string]string{"$WORK": cwd}, heard: make(map[string][]byte), come: make(chan struct{}, 1)}
			go s.listen()
			return s.play(f.Data, args)
		}
	}
	return fail("the story has no process %d", n)
}

func fail(format string, a ...any) int {
	fmt.Fprintf(os.Stderr, "stand-in: "+format+"\n", a...)
	return 71
}

// standin plays one process of a story.
type standin struct {
	names map[string]string // what was recorded → what it is now

	mu    sync.Mutex // guards what follows
	heard map[string][]byte
	over  bool
	come  chan struct{}
}

func (s *standin) listen() {
	pass(os.Stdin, io.Discard, func(b []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard[kind(b)] = b
		s.signal()
	})
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.signal()
}

func (s *standin) signal() {
	select {
	case s.come <- struct{}{}:
	default:
	}
}

// kind tells messages to the program apart: by what they are, not when they come.
func kind(b []byte) string {
	var m struct {
		Type     string
		Request  struct{ Subtype string }
		Message  struct{ Content any }
		Response struct {
			RequestID string `json:"request_id"`
		}
	}
	_ = json.Unmarshal(b, &m)
	return fmt.Sprint(m.Type, m.Request.Subtype, m.Response.RequestID, m.Message.Content)
}

func (s *standin) play(script []byte, args []string) int {
	for line := range bytes.Lines(script) {
		mark, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(mark) {
		case "args":
			if code := s.start(rest, args); code != 0 {
				return code
			}
		case "<":
			os.Stdout.Write(append(s.now(rest), '\n'))
		case ">":
			if got, ok := s.wait(kind(s.now(rest))); !ok {
				return 0 // hung up on
			} else if code := s.compare(rest, got); code != 0 {
				return code
			}
		case "exit":
			s.wait("the end")
			code, _ := strconv.Atoi(string(rest))
			return code
		case "killed":
			select {}
		}
	}
	return 0
}

// start compares the command line, and learns the new names of sessions.
func (s *standin) start(recorded []byte, args []string) int {
	var want []string
	_ = json.Unmarshal(recorded, &want)
	for i := range min(len(want), len(args)) {
		if i > 0 && (args[i-1] == "--session-id" || args[i-1] == "--resume") {
			s.names[want[i]] = args[i]
			want[i] = args[i]
		}
	}
	if !reflect.DeepEqual(want, args) {
		return fail("started with %q, want %q", args, want)
	}
	return 0
}

// now is a recorded line with today's names.
func (s *standin) now(b []byte) []byte {
	for was, is := range s.names {
		b = bytes.ReplaceAll(b, []byte(was), []byte(is))
	}
	return b
}

// wait returns a message of a kind when it has come; false if the input ended.
func (s *standin) wait(kind string) ([]byte, bool) {
	for {
		s.mu.Lock()
		b, ok := s.heard[kind]
		delete(s.heard, kind)
		over := s.over
		s.mu.Unlock()
		if ok || over {
			return b, ok
		}
		<-s.come
	}
}

// compare checks what was heard, and learns the names in it.
func (s *standin) compare(recorded, got []byte) int {
	var was, is map[string]any
	_ = json.Unmarshal(s.now(recorded), &was)
	_ = json.Unmarshal(got, &is)
	for _, id := range []string{"uuid", "request_id"} {
		a, aok := was[id].(string)
		b, bok := is[id].(string)
		if aok && bok && id == "uuid" {
			s.names[a] = b
		}
		if aok && bok && a != b && id == "request_id" {
			s.names[strconv.Quote(a)] = strconv.Quote(b)
		}
		delete(was, id)
		delete(is, id)
	}
	if !reflect.DeepEqual(was, is) {
		return fail("heard %s, want %s", strings.TrimSpace(string(got)), recorded)
	}
	return 0
}
