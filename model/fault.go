package model

import (
	"fmt"
	"strings"
	"time"
)

// Fault is what went wrong with an answer. The set is closed: a client names
// everything it meets by one of these.
type Fault string

const (
	RateLimited    Fault = "rate_limited"     // asked too much; RetryAfter if the server said so
	Overloaded     Fault = "overloaded"       // the server has no capacity
	Auth           Fault = "auth"             // the key, or the account behind it, was not accepted
	BadRequest     Fault = "bad_request"      // the server does not take the request; asking again will not help
	ContextTooLong Fault = "context_too_long" // the conversation does not fit
	ServerError    Fault = "server_error"     // the server failed, or what it sent cannot be understood
	CutOff         Fault = "cut_off"          // the answer ended before its end
	TimedOut       Fault = "timed_out"        // nothing came for too long
	Refused        Fault = "refused"          // the model, or a filter before it, will not answer
	Unreachable    Fault = "unreachable"      // there was no connection to the server
)

// faults says of each: in words, and whether the same request may work later
// or elsewhere.
var faults = map[Fault]struct {
	words     string
	transient bool
}{
	RateLimited:    {"rate limited", true},
	Overloaded:     {"overloaded", true},
	Auth:           {"not authorised", false},
	BadRequest:     {"bad request", false},
	ContextTooLong: {"the conversation is too long for the model", false},
	ServerError:    {"server error", true},
	CutOff:         {"the answer was cut off", true},
	TimedOut:       {"nothing came for too long", true},
	Refused:        {"refused", false},
	Unreachable:    {"cannot be reached", true},
}

// Error is why there is no (whole) answer.
type Error struct {
	Fault      Fault
	Provider   string
	Status     int           // of HTTP; 0 if none was seen
	RetryAfter time.Duration // 0 if the server did not say
	Message    string        // the server's own words, bounded and without our key
	RequestID  string        // to quote to the provider
	Err        error
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider + ": ")
	}
	b.WriteString(faults[e.Fault].words)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", asks to wait %s", e.RetryAfter)
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + e.Message)
	case e.Err != nil:
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Transient reports whether the same request may work later, or with another
// provider.
func (e *Error) Transient() bool { return faults[e.Fault].transient }
