package bridgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

// Replay is the stand-in: it says what the program said, when it has heard what
// the program heard. What it hears must be what was recorded, but for made-up
// identifiers. dir is where the processes of a story are counted, args the
// command line.
func (d *Dialect) Replay(story, dir string, in io.Reader, out, errs io.Writer, args ...string) int {
	archive, err := txtar.ParseFile(story)
	if err != nil {
		fmt.Fprintln(errs, "stand-in:", err)
		return 71
	}
	n := next(dir)
	for _, f := range archive.Files {
		if f.Name == strconv.Itoa(n) {
			work, err := os.Getwd()
			if err != nil {
				return 71
			}
			s := &standIn{dialect: d, args: args, out: out, errs: errs, work: work, names: make(map[string]string), heard: make(map[string][][]byte), come: make(chan struct{}, 1)}
			var ears sync.WaitGroup // nobody waits: the process ends
			ears.Go(func() { s.listen(in) })
			return s.play(f.Data)
		}
	}
	fmt.Fprintf(errs, "stand-in: the story has no process %d\n", n)
	return 71
}

// standIn plays one process of a story.
type standIn struct {
	dialect   *Dialect
	args      []string
	out, errs io.Writer
	work      string
	names     map[string]string // that are made up: recorded → now

	mu    sync.Mutex // guards what follows
	heard map[string][][]byte
	over  bool
	come  chan struct{}
}

func (s *standIn) listen(in io.Reader) {
	pass(in, io.Discard, func(b []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		kind := s.dialect.Kind(b)
		s.heard[kind] = append(s.heard[kind], b)
		s.signal()
	})
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.signal()
}

func (s *standIn) signal() {
	select {
	case s.come <- struct{}{}:
	default:
	}
}

func (s *standIn) play(script []byte) int {
	for line := range bytes.Lines(script) {
		mark, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(mark) {
		case "args":
			if why := s.dialect.start(s.names, bytes.ReplaceAll(rest, []byte("$WORK"), []byte(s.work)), s.args); why != "" {
				fmt.Fprintln(s.errs, "stand-in:", why)
				return 71
			}
		case "<":
			_, _ = s.out.Write(append(s.now(rest), '\n'))
		case ">":
			rest = s.now(rest)
			got, ok := s.wait(s.dialect.Kind(rest))
			if !ok {
				return 0 // hung up on
			}
			if why := s.compare(rest, got); why != "" {
				fmt.Fprintln(s.errs, "stand-in:", why)
				return 71
			}
		case "exit":
			s.wait("the end")
			code, _ := strconv.Atoi(string(rest))
			return code
		case "killed":
			select {}
		}
	}
	s.wait("the end")
	return 0
}

// now is a recorded line with today's names.
func (s *standIn) now(b []byte) []byte {
	return s.dialect.Now(s.names, bytes.ReplaceAll(b, []byte("$WORK"), []byte(s.work)))
}

// wait returns a message of a kind when it has come; false if the input ended.
func (s *standIn) wait(kind string) ([]byte, bool) {
	for {
		s.mu.Lock()
		if all := s.heard[kind]; len(all) > 0 {
			s.heard[kind] = all[1:]
			s.mu.Unlock()
			return all[0], true
		}
		over := s.over
		s.mu.Unlock()
		if over {
			return nil, false
		}
		<-s.come
	}
}

// compare says how what was heard differs from what was recorded, and learns the
// names in it.
func (s *standIn) compare(recorded, got []byte) string {
	var was, is map[string]any
	_ = json.Unmarshal(recorded, &was) // what is no message is compared with nothing
	_ = json.Unmarshal(got, &is)
	s.dialect.Learn(s.names, was, is)
	if !reflect.DeepEqual(was, is) {
		return fmt.Sprintf("heard %s, want %s", strings.TrimSpace(string(got)), recorded)
	}
	return ""
}
