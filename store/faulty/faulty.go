// Package faulty wraps a store and makes it fail as a plan says: errors before
// or after the work, delays, and crashes after which nothing reaches the store
// any more. The plan is a function, so a simulation can drive it from a seed.
//
// A crash clone is what the store underneath holds once a [Crash] has happened:
// the wrapper lets nothing through any more and has waited for what was under
// way. Over store/memory that is Clone; over a store in files it is a copy of
// the files, made by another process, because that is what a killed process
// leaves.
package faulty

import (
	"context"
	"fmt"
	"sync"

	"harness"
)

// Method names a call of a store or of its powers.
type Method string

// The methods that a plan is asked about. Close never fails.
const (
	Append       Method = "Append"
	Read         Method = "Read"
	List         Method = "List"
	SaveSnapshot Method = "SaveSnapshot"
	LoadSnapshot Method = "LoadSnapshot"
	Messages     Method = "Messages"
	Remove       Method = "Remove"
	Rules        Method = "Rules"
	RevokeRule   Method = "RevokeRule"
)

// Op is a call that is about to happen.
type Op struct {
	N       int // 1, 2, 3, … over all calls of this wrapper
	Method  Method
	Session harness.SessionID // empty for List and for rules
	Commit  *harness.Commit   // for Append; not to be changed
}

// Fault is what becomes of a call. The zero value is no fault.
type Fault struct {
	// Wait is called first, if set: a delay, or a gate. Its error is returned
	// and the call does not happen.
	Wait func(context.Context) error

	// Before is returned instead of the call: it has no effect.
	Before error

	// After is returned though the call succeeded: its caller cannot know. A
	// stream yields everything and then the error.
	After error

	// Crash ends the store with this call: this one and all later ones return
	// ErrStorage. With Landed the whole call takes effect first, as when the
	// process dies between the flush and the answer; otherwise nothing of it
	// does. A call never takes effect in part: that a store's own crash tests
	// show.
	Crash, Landed bool
}

// errCrashed is what the caller of a dead process would never read.
var errCrashed = fmt.Errorf("the store has crashed: %w", harness.ErrStorage)

// Wrap returns a store that behaves like st but for what plan says. It has the
// optional powers that st has and no others. plan is called once for each call,
// one at a time, in the order of Op.N.
func Wrap(st harness.Store, plan func(Op) Fault) harness.Store {
	w := &wrapper{inner: st, plan: plan}
	sn, snapshots := st.(harness.Snapshotter)
	rm, removes := st.(harness.Remover)
	rb, rules := st.(harness.Rulebook)
	s, r, b := &snapshotter{w, sn}, &remover{w, rm}, &rulebook{w, rb}
	switch [3]bool{snapshots, removes, rules} {
	case [3]bool{true, true, true}:
		return struct {
			*wrapper
			*snapshotter
			*remover
			*rulebook
		}{w, s, r, b}
	case [3]bool{true, true, false}:
		return struct {
			*wrapper
			*snapshotter
			*remover
		}{w, s, r}
	case [3]bool{true, false, true}:
		return struct {
			*wrapper
			*snapshotter
			*rulebook
		}{w, s, b}
	case [3]bool{false, true, true}:
		return struct {
			*wrapper
			*remover
			*rulebook
		}{w, r, b}
	case [3]bool{true, false, false}:
		return struct {
			*wrapper
			*snapshotter
		}{w, s}
	case [3]bool{false, true, false}:
		return struct {
			*wrapper
			*remover
		}{w, r}
	case [3]bool{false, false, true}:
		return struct {
			*wrapper
			*rulebook
		}{w, b}
	}
	return w
}

type wrapper struct {
	inner harness.Store

	planning sync.Mutex // guards n and calls of plan
	n        int
	plan     func(Op) Fault

	flight sync.RWMutex // held for reading while a call is in inner; guards dead
	dead   bool
}

// call runs one call of inner as the plan says.
func (w *wrapper) call(ctx context.Context, op Op, inner func() error) error {
	w.planning.Lock()
	w.n++
	op.N = w.n
	f := w.plan(op)
	w.planning.Unlock()
	if f.Wait != nil {
		if err := f.Wait(ctx); err != nil {
			return err
		}
	}
	if f.Before != nil {
		return f.Before
	}
	if !f.Crash || f.Landed {
		if err := w.enter(inner); err != nil {
			return err
		}
	}
	if f.Crash {
		w.flight.Lock() // waits for the calls under way
		w.dead = true
		w.flight.Unlock()
		return errCrashed
	}
	return f.After
}

func (w *wrapper) enter(inner func() error) error {
	w.flight.RLock()
	defer w.flight.RUnlock()
	if w.dead {
		return errCrashed
	}
	return inner()
}
