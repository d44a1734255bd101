package health

import (
	"slices"
	"time"

	"harness"
)

// tools is how calls went.
type tools struct {
	Failed  int64  `json:"failed,omitempty"`
	Recent  uint16 `json:"recent,omitempty"` // the last calls that ran, a bit for each: it failed
	Count   int    `json:"count,omitempty"`  // how many of Recent there are
	Longest int64  `json:"longest,omitempty"`
	Slow    bool   `json:"slow,omitempty"`
	Quick   int    `json:"quick,omitempty"` // since then, in a row, that succeeded in time
}

// What the last calls are judged by.
const (
	recentCalls = 12
	someFail    = 3
	mostFail    = 6

	slowCall  = 60 * time.Second
	quickRow  = 3 // quick calls in a row that clear a slow one
	quietRow  = 3 // calls in a row that clear a loop
	lowEnough = 8 // events without evidence that are worth a flag
)

func (t *tools) ran(failed bool) {
	t.Recent = t.Recent<<1&(1<<recentCalls-1) | bit(failed)
	t.Count = min(t.Count+1, recentCalls)
	if failed {
		t.Failed++
	}
}

// failing is how many of the last calls failed.
func (t *tools) failing() int {
	n := 0
	for b := t.Recent; b != 0; b &= b - 1 {
		n++
	}
	return n
}

func bit(b bool) uint16 {
	if b {
		return 1
	}
	return 0
}

func (f *Fold) seeCall(p *harness.ToolCall) flags {
	f.Calls++
	k := keyOf(p.Name, p.Arguments)
	keeps := proposes(p)
	if keeps {
		f.Memory.Proposals++
	}
	f.Open = remember(f.Open, open{p.ToolCallID, f.Now, k, keeps}, maxOpen)
	f.Loop.called(k)
	return set(looping) | set(stuck)
}

func (f *Fold) seeResult(p *harness.ToolResult) {
	f.progress()
	if i := f.find(p.ToolCallID); i >= 0 {
		f.Loop.resulted(f.Open[i].Key, keyOf(p.Output, p.Result))
	}
}

func (f *Fold) find(id harness.CallID) int {
	return slices.IndexFunc(f.Open, func(o open) bool { return o.ID == id })
}

func (f *Fold) seeOutcome(p *harness.ToolOutcome) flags {
	i := f.find(p.ToolCallID)
	if i < 0 {
		return 0
	}
	call := f.Open[i]
	f.Open = slices.Delete(f.Open, i, i+1)
	t := &f.Tools
	t.Longest = max(t.Longest, p.ElapsedMS)
	slow := time.Duration(p.ElapsedMS)*time.Millisecond >= slowCall
	if slow {
		t.Slow, t.Quick = true, 0
	}
	switch p.Status {
	case harness.OutcomeOK, harness.OutcomeArtifact:
		t.ran(false)
		f.Loop.succeeded(call.Key, keyOf("", p.Result))
		f.proof()
		if call.Keeps {
			f.Memory.Accepted++
		}
		if !slow {
			if t.Quick++; t.Quick >= quickRow {
				t.Slow = false
			}
		}
	case harness.OutcomeDenied:
		f.Evidence.claim()
	default:
		if slices.Contains(closed, p.Reason) { // the kernel's word, in place of the tool's
			f.Lost = f.Lost || p.Reason == lostCode
			break
		}
		t.ran(true)
		t.Quick = 0
		f.Loop.failed(call.Key, keyOf(p.Error, nil))
		f.Evidence.claim()
	}
	return set(toolFailures) | set(slowTools) | set(looping) | set(stuck) | set(noEvidence) | set(orphanedProcess)
}

// closed are the reasons of outcomes that the kernel gives to calls which a turn
// leaves open.
var closed = []string{lostCode, "held", "retry", harness.TurnCancelled, harness.TurnError}

// latency is the longest that a call took, or has been taking so far.
func (f *Fold) latency() int64 {
	longest := f.Tools.Longest
	if f.running() {
		for _, o := range f.Open {
			longest = max(longest, f.Now.Sub(o.Since).Milliseconds())
		}
	}
	return longest
}

// evidence is how often the agent has said or spent something since the world
// last answered it.
type evidence struct {
	Without int64 `json:"without,omitempty"`
}

func (v *evidence) claim() { v.Without++ }

// proof notes that the world answered: a call that worked, a passage, a file.
func (f *Fold) proof() {
	f.progress()
	f.Evidence.Without, f.Again = 0, false
}
