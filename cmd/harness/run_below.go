package main

import (
	"encoding/json"
	"time"
)

// descend follows a thread that does work for this one: what it asks, nobody
// else may be there to answer. Other agents' helpers are not threads; those
// are not followed.
func (k *talk) descend(id string) {
	if id == "" || k.below[id] {
		return
	}
	k.below[id] = true
	k.call("thread.subscribe", map[string]any{"threadId": id, "after": 0}, func(_ json.RawMessage, f *fault) {
		if f != nil {
			delete(k.below, id)
		}
	})
}

// hearBelow shows the questions of a thread below, and their answers.
func (k *talk) hearBelow(method string, n *told, now time.Time) {
	switch {
	case method == "approval.requested":
		k.requested(n)
	case method == "item.completed" && n.Type == "approval":
		k.completed(n, now)
	}
}
