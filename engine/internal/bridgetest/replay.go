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
// identifiers. dir is where the processes of a story are counted.
func Replay(story, dir string, in io.Reader, out, errs io.Writer) int {
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
			s := &standIn{out: out, errs: errs, work: work, ids: make(map[string]string), heard: make(map[string][][]byte), come: make(chan struct{}, 1)}
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
	out, errs io.Writer
	work      string
	ids       map[string]string // of requests to the program: recorded → now

	mu    sync.Mutex // guards what follows
	heard map[string][][]byte
	over  bool
	come  chan struct{}
}

func (s *standIn) listen(in io.Reader) {
	pass(in, io.Discard, func(b []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard[kind(b)] = append(s.heard[kind(b)], b)
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

// kind tells messages to the program apart: by what they are, not when they come.
func kind(b []byte) string {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(b, &m) // what cannot be read is of no kind
	if m.Method != "" {
		return m.Method
	}
	return "response " + string(m.ID)
}

func (s *standIn) play(script []byte) int {
	for line := range bytes.Lines(script) {
		mark, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(mark) {
		case "<":
			_, _ = s.out.Write(append(s.now(rest), '\n'))
		case ">":
			got, ok := s.wait(kind(rest))
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
	b = bytes.ReplaceAll(b, []byte("$WORK"), []byte(s.work))
	var m map[string]json.RawMessage
	if json.Unmarshal(b, &m) != nil || m["method"] != nil {
		return b
	}
	if id, ok := s.ids[string(m["id"])]; ok {
		m["id"] = json.RawMessage(id)
		if out, err := json.Marshal(m); err == nil {
			return out
		}
	}
	return b
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
// ids in it.
func (s *standIn) compare(recorded, got []byte) string {
	var was, is map[string]any
	_ = json.Unmarshal(bytes.ReplaceAll(recorded, []byte("$WORK"), []byte(s.work)), &was)
	_ = json.Unmarshal(got, &is)
	if was["method"] != nil && was["id"] != nil {
		s.ids[fmt.Sprint(was["id"])] = fmt.Sprint(is["id"])
		delete(was, "id")
		delete(is, "id")
	}
	for _, m := range []map[string]any{was, is} {
		if p, ok := m["params"].(map[string]any); ok {
			delete(p, "clientUserMessageId")
		}
	}
	if !reflect.DeepEqual(was, is) {
		return fmt.Sprintf("heard %s, want %s", strings.TrimSpace(string(got)), recorded)
	}
	return ""
}
