package mcp

import "time"

// allowance is what a server may still say without being asked.
type allowance struct {
	messages, bytes float64
	last            time.Time
}

func newAllowance(now time.Time) allowance {
	return allowance{messages: unaskedMessages, bytes: unaskedBytes, last: now}
}

// take counts messages and bytes and reports whether they were allowed.
func (a *allowance) take(now time.Time, messages, bytes int) bool {
	passed := max(0, now.Sub(a.last).Seconds())
	a.last = now
	a.messages = min(unaskedMessages, a.messages+passed*unaskedMessagesPerSec) - float64(messages)
	a.bytes = min(unaskedBytes, a.bytes+passed*unaskedBytesPerSec) - float64(bytes)
	return a.messages >= 0 && a.bytes >= 0
}
