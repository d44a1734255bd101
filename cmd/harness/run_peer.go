package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// peer is `harness stdio` as a child process, seen from its other end. One
// goroutine owns it and receives from lines.
type peer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte // closed when the child says no more
	hangUp  context.CancelFunc
	reading sync.WaitGroup
	errs    *lastWords

	next    int
	waiting map[int]func(result json.RawMessage, fault *fault)
}

// burst is how many lines may wait, so that the terminal is drawn once for all
// that come together.
const burst = 256

// fault is the error of an answer.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code string `json:"code"`
	} `json:"data"`
}

func (f *fault) Error() string { return f.Message }

// message is any line of the child: an answer or a notification.
type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *fault          `json:"error"`
}

func startPeer(ctx context.Context, args ...string) (*peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &peer{cmd: exec.Command(self, append([]string{"stdio"}, args...)...), lines: make(chan []byte, burst), errs: &lastWords{},
		waiting: map[int]func(json.RawMessage, *fault){}}
	apart(p.cmd)
	p.cmd.Stderr = p.errs
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ctx, p.hangUp = context.WithCancel(ctx)
	p.reading.Go(func() { p.read(ctx, out) })
	return p, nil
}

func (p *peer) read(ctx context.Context, out io.Reader) {
	defer close(p.lines)
	defer io.Copy(io.Discard, out)
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		select {
		case p.lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// call sends a request; then, if there is one, is called with its answer. If
// the child is gone, that shows at the end of its lines.
func (p *peer) call(method string, params any, then func(result json.RawMessage, fault *fault)) {
	p.next++
	p.waiting[p.next] = then
	line, err := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", p.next, method, params})
	if err != nil {
		panic(fmt.Sprintf("harness run: %s: %v", method, err)) // only our own values come here
	}
	p.in.Write(append(line, '\n'))
}

// take reads a line. If it is an answer, whoever waits for it is called and the
// method is empty.
func (p *peer) take(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("harness stdio wrote %q: %w", clean(string(line), 80), err)
	}
	if m.Method == "" && m.ID != nil {
		then := p.waiting[*m.ID]
		delete(p.waiting, *m.ID)
		if then != nil {
			then(m.Result, m.Error)
		}
	}
	return m, nil
}

// leaveFor is how long a child may take to go when its input has ended.
const leaveFor = 5 * time.Second

// close ends the child, by force if it does not go or now is set.
func (p *peer) close(now bool) {
	p.hangUp()
	p.in.Close()
	if now {
		killAll(p.cmd)
	}
	force := time.AfterFunc(leaveFor, func() { killAll(p.cmd) })
	defer force.Stop()
	p.reading.Wait()
	p.cmd.Wait()
}

// gone is why the child ended, in its own words.
func (p *peer) gone() error {
	p.in.Close()
	p.reading.Wait()
	err := p.cmd.Wait()
	words := p.errs.String()
	words = strings.TrimPrefix(words, "harness stdio: ")
	switch {
	case words != "":
		return errors.New(words)
	case err != nil:
		return fmt.Errorf("harness stdio ended in the middle: %w", err)
	default:
		return errors.New("harness stdio ended in the middle: its input or its server is gone")
	}
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu   sync.Mutex // guards text
	text []byte
}

// maxWords is enough for an error and a hint.
const maxWords = 4 << 10

func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	w.text = w.text[max(0, len(w.text)-maxWords):]
	return len(b), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.text))
}
