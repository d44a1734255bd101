package main

import (
	"encoding/json"
	"errors"
	"time"

	"harness"
)

// local is a thread of a directory, through `harness stdio`.
type local struct {
	*talk
	joined bool
	failed error
}

// openLocal asks for everything that was ever told of a thread; what happens
// from then on follows. Without an id it is the newest.
func openLocal(p *peer, id string, t *transcript) *local {
	l := &local{talk: newTalk(p, t)}
	l.call("initialize", map[string]any{"clientInfo": map[string]string{"name": "harness attach", "version": release}}, l.then(func(json.RawMessage) {
		if id != "" {
			l.subscribe(id)
			return
		}
		l.call("thread.list", map[string]any{"limit": 1}, l.then(l.newest))
	}))
	return l
}

func (l *local) then(f func(json.RawMessage)) func(json.RawMessage, *fault) {
	return func(result json.RawMessage, fault *fault) {
		if fault != nil {
			l.failed = fault
		} else {
			f(result)
		}
	}
}

// errNoThread is for a place where nothing has happened yet.
var errNoThread = errors.New("there is no session yet; harness run makes one")

func (l *local) newest(result json.RawMessage) {
	var list struct{ Threads []struct{ ThreadID string } }
	switch err := json.Unmarshal(result, &list); {
	case err != nil:
		l.failed = err
	case len(list.Threads) == 0:
		l.failed = errNoThread
	default:
		l.subscribe(list.Threads[0].ThreadID)
	}
}

func (l *local) subscribe(id string) {
	l.thread = id
	l.call("thread.subscribe", map[string]any{"threadId": id, "after": 0}, l.then(func(json.RawMessage) {
		l.t.remark(dim, "thread "+id)
		l.joined = true
	}))
}

func (l *local) what() <-chan []byte { return l.lines }

func (l *local) take(line []byte, now time.Time) error {
	m, err := l.peer.take(line)
	if err != nil || m.Method == "" {
		return errors.Join(err, l.failed)
	}
	end, err := l.hear(m, now)
	if err == nil && end != nil {
		l.t.ended(end.Status, end.Error)
	}
	return err
}

// ended says how a turn ended, unless it is as it should be.
func (t *transcript) ended(status, failure string) {
	switch status {
	case harness.TurnCompleted:
	case harness.TurnCancelled:
		t.remark(red, "cancelled")
	default:
		text := "failed"
		if failure != "" {
			text += ": " + failure
		}
		t.remark(red, text)
	}
}

func (l *local) ready() bool { return l.joined }

func (l *local) running() bool { return l.turn != "" }

func (l *local) ours() bool { return true }

// prompt starts a turn, or says something to the one that runs.
func (l *local) prompt(text string) {
	if !l.running() {
		l.tell("turn.start", text, l.refused)
		return
	}
	l.tell("turn.steer", text, func(f *fault) {
		if f.Data.Code == harness.ErrNotRunning.Code {
			l.tell("turn.start", text, l.refused)
		} else {
			l.refused(f)
		}
	})
}

func (l *local) tell(method, text string, refused func(*fault)) {
	l.call(method, map[string]any{"threadId": l.thread, "input": textInput(text)}, func(_ json.RawMessage, f *fault) {
		if f != nil {
			refused(f)
		}
	})
}

func (l *local) refused(f *fault) { l.t.remark(red, f.Message) }
