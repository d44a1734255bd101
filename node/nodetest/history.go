// Package nodetest checks what clients of several nodes were told: whether there
// is an order of all they did, each at a moment between its call and its answer,
// in which one session could have answered so.
package nodetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"

	"github.com/anishathalye/porcupine"
)

// What clients do to a session, and what they were told. A prompt is known by its
// key; reading yields the keys in the order of the log.
type (
	asked struct {
		session harness.SessionID
		key     string // empty: a read
	}
	heard struct {
		unknown bool   // nobody was told whether it happened
		keys    string // each with its place
		seq     harness.Seq
	}
)

// session is one as clients may think of it: a list that prompts are added to,
// each key once and behind all others, and that everybody reads as it is.
var session = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[harness.SessionID][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(asked).session
			parts[id] = append(parts[id], op)
		}
		var all [][]porcupine.Operation
		for _, p := range parts {
			all = append(all, p)
		}
		return all
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		keys, in, out := state.(string), input.(asked), output.(heard)
		if in.key == "" {
			return out.keys == keys, keys
		}
		last := harness.Seq(0)
		if i := strings.LastIndexByte(keys, '@'); i >= 0 {
			fmt.Sscanf(keys[i:], "@%d;", &last)
		}
		return out.seq > last, keys + entry(in.key, out.seq)
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v → %+v", input, output)
	},
}

func entry(key string, seq harness.Seq) string { return fmt.Sprintf("%s@%d;", key, seq) }

// Prompt is one in a log.
type Prompt struct {
	Key string
	Seq harness.Seq
}

// Log is the prompts of a session, in its order.
type Log func(id harness.SessionID) ([]Prompt, error)

// History is what all clients did, by one clock. The zero value is empty.
type History struct {
	mu    sync.Mutex // guards what follows
	began time.Time
	ops   []porcupine.Operation
}

// now is how long the history lasts.
func (h *History) now() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.began.IsZero() {
		h.began = time.Now()
	}
	return int64(time.Since(h.began))
}

// Submit has a client send a prompt under a key. f returns its place in the log,
// or 0 if that was not said; its error says that nobody knows what became of it.
func (h *History) Submit(client int, id harness.SessionID, key string, f func() (harness.Seq, error)) {
	h.take(client, asked{id, key}, func() (heard, error) {
		seq, err := f()
		return heard{seq: seq}, err
	})
}

// Read has a client read a session's prompts.
func (h *History) Read(client int, id harness.SessionID, f Log) {
	h.take(client, asked{session: id}, func() (heard, error) {
		prompts, err := f(id)
		out := heard{}
		for _, p := range prompts {
			out.keys += entry(p.Key, p.Seq)
		}
		return out, err
	})
}

func (h *History) take(client int, in asked, f func() (heard, error)) {
	call := h.now()
	out, err := f()
	back := h.now()
	if err != nil { // it may still happen, at any time to come
		out, back = heard{unknown: true}, 1<<62
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: back})
}

// Known is how many operations there are, and of how many the outcome is known.
func (h *History) Known() (all, known int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range h.ops {
		if !op.Output.(heard).unknown {
			known++
		}
	}
	return len(h.ops), known
}

// Check fails the test if no session could have answered so, if a prompt is in a
// log twice, or if one that was acknowledged is not there. It is for when all
// clients have come to their end.
func (h *History) Check(t testing.TB, log Log) {
	t.Helper()
	h.settle(t, log)
	if result := porcupine.CheckOperationsTimeout(session, h.ops, time.Minute); result != porcupine.Ok {
		t.Errorf("the history is %s", result)
	}
}

// settle finds out from the logs where prompts are that nobody was told about;
// what never happened is no part of the history.
func (h *History) settle(t testing.TB, log Log) {
	t.Helper()
	where := map[asked][]harness.Seq{}
	read := map[harness.SessionID]bool{}
	for _, op := range h.ops {
		id := op.Input.(asked).session
		if read[id] {
			continue
		}
		read[id] = true
		prompts, err := log(id)
		if err != nil {
			t.Fatalf("the log of %s: %v", id, err)
		}
		for _, p := range prompts {
			at := asked{id, p.Key}
			if where[at] = append(where[at], p.Seq); len(where[at]) > 1 {
				t.Errorf("%s is in the log of %s more than once, at %v", p.Key, id, where[at])
			}
		}
	}
	h.ops = slices.DeleteFunc(h.ops, func(op porcupine.Operation) bool {
		in, out := op.Input.(asked), op.Output.(heard)
		gone := len(where[in]) == 0
		if gone && in.key != "" && !out.unknown {
			t.Errorf("%s was acknowledged and is not in the log of %s", in.key, in.session)
		}
		return gone && (out.unknown || in.key != "")
	})
	for i, op := range h.ops {
		in, out := op.Input.(asked), op.Output.(heard)
		if in.key != "" && out.seq == 0 {
			out.seq = where[in][0]
			h.ops[i].Output = out
		}
	}
}
