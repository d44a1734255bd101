package health

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
)

// The detectors: a call with the same arguments, again and again; one that
// fails, or answers, as it did before, with whatever in between; two calls in
// turn.
const (
	sameCalls   = 3
	sameErrors  = 3
	sameResults = 4
	pairCalls   = 6

	// window is how many calls are remembered. Whoever comes back to a call
	// later than that has done something else in between.
	window = 12
)

// key stands for a text; the same on every machine.
type key uint64

func keyOf(text string, raw json.RawMessage) key {
	b := make([]byte, 0, 512) // most fit
	b = append(append(append(b, text...), 0), raw...)
	sum := sha256.Sum256(b)
	return key(binary.LittleEndian.Uint64(sum[:]))
}

// loop is what the detectors remember of the turn since a person last spoke.
type loop struct {
	Warnings int64 `json:"warnings,omitempty"` // of the session
	Hot      int   `json:"hot,omitempty"`      // warnings since it last cooled down
	Cool     int   `json:"cool,omitempty"`     // calls since the last warning that did well
	Last     []key `json:"last,omitempty"`     // calls, as they were made
	Done     []did `json:"done,omitempty"`     // calls, as they ended
	Warned   bool  `json:"warned,omitempty"`   // the last call was warned of: its outcome adds nothing
	Result   key   `json:"result,omitempty"`   // of the last tool_result, for its outcome
	Of       key   `json:"of,omitempty"`       // the call that it is of
}

// did is a call and how it ended.
type did struct {
	Call   key  `json:"call"`
	Answer key  `json:"answer"`
	Failed bool `json:"failed,omitempty"`
}

// forget begins anew, but for the count.
func (l *loop) forget() { *l = loop{Warnings: l.Warnings} }

func (l *loop) warn() {
	l.Warnings++
	l.Hot++
	l.Cool = 0
}

// called warns of a call before it runs.
func (l *loop) called(k key) {
	l.Last = remember(l.Last, k, window)
	l.Warned = l.repeats() || l.alternates()
	if l.Warned {
		l.warn()
	}
}

func (l *loop) repeats() bool {
	n := len(l.Last)
	if n < sameCalls {
		return false
	}
	for _, k := range l.Last[n-sameCalls:] {
		if k != l.Last[n-1] {
			return false
		}
	}
	return true
}

func (l *loop) alternates() bool {
	n := len(l.Last)
	if n < pairCalls || l.Last[n-1] == l.Last[n-2] {
		return false
	}
	for i := n - pairCalls; i < n-2; i++ {
		if l.Last[i] != l.Last[i+2] {
			return false
		}
	}
	return true
}

// resulted keeps a result for the outcome that follows.
func (l *loop) resulted(call, result key) { l.Of, l.Result = call, result }

func (l *loop) failed(call, problem key) {
	l.ended(did{call, problem, true}, sameErrors)
}

func (l *loop) succeeded(call, result key) {
	if l.Of == call && l.Result != 0 {
		result = l.Result
	}
	l.Of, l.Result = 0, 0
	if !l.ended(did{call, result, false}, sameResults) && !l.Warned {
		if l.Cool++; l.Cool >= quietRow {
			l.Hot = 0
		}
	}
}

// ended warns of a call that ended as so many before, unless its beginning was
// warned of.
func (l *loop) ended(d did, limit int) bool {
	l.Done = remember(l.Done, d, window)
	n := 0
	for _, x := range l.Done {
		if x == d {
			n++
		}
	}
	if n < limit {
		return false
	}
	if !l.Warned {
		l.warn()
	}
	return true
}
