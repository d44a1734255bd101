package mcp

import "time"

// restarts decides when a server that died may start again.
type restarts struct {
	at []time.Time // those of the last restartWindow
}

// next returns when the server may start, or false if it has died too often.
// The start it speaks of is counted.
func (r *restarts) next(now time.Time) (time.Time, bool) {
	for len(r.at) > 0 && now.Sub(r.at[0]) > restartWindow {
		r.at = r.at[1:]
	}
	n := len(r.at)
	if n == maxRestarts {
		return time.Time{}, false
	}
	when := now
	if n > 0 {
		if after := r.at[n-1].Add(restartDelay << n); after.After(now) {
			when = after
		}
	}
	r.at = append(r.at, when)
	return when, true
}
