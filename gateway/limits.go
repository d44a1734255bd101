package gateway

import (
	"fmt"
	"time"
)

// Limits of the edge. Each is a bound on what somebody who is not known yet, or
// who is known and careless, can make the server hold or do.
const (
	MaxHeader      = 16 << 10         // a JWT and the headers of any browser
	MaxURL         = 8 << 10          // a cursor and a few filters
	MaxBody        = 1 << 20          // a prompt of 512 KiB, escaped
	HeaderFor      = 5 * time.Second  // to send a head, over any line
	BodyFor        = 30 * time.Second // to send a body, over a slow one
	IdleFor        = 2 * time.Minute  // a connection that asks nothing
	keepIdle       = 15 * time.Second // until the system asks whether a silent peer is there
	keepEvery      = 10 * time.Second // until it asks again
	keepTries      = 3                // and then it is gone
	MaxConnections = 4096             // that are HTTP; others count their own
	MaxFromOne     = 1024             // of them from one address
	strangerBurst  = 200              // requests of an address without a caller at once: a page with its assets, a few times
	strangerEvery  = 20 * time.Millisecond
	callerBurst    = 10_000 // requests of a caller at once: all its clients come back after a restart
	callerEvery    = time.Millisecond
)

// Limit is a bound in words, for people and documents.
type Limit struct {
	Name, Value, Reason, Answer string
}

// Limits lists every bound of the gateway and what one hears who meets it.
func Limits() []Limit {
	size := func(n int) string {
		if n%(1<<20) == 0 {
			return fmt.Sprintf("%d MiB", n>>20)
		}
		return fmt.Sprintf("%d KiB", n>>10)
	}
	rate := func(burst int, every time.Duration) string {
		if every > time.Second {
			return fmt.Sprintf("%d at once, then one every %s", burst, every)
		}
		return fmt.Sprintf("%d at once, then %d per second", burst, time.Second/every)
	}
	return []Limit{
		{"head of a request", size(MaxHeader), "a JWT and the headers of any browser", "431"},
		{"URL", size(MaxURL), "a cursor and a few filters", "414"},
		{"body of a request", size(MaxBody), "the largest prompt, escaped; importing has its own bound", "413"},
		{"time to send a head", HeaderFor.String(), "any line is faster; whoever is slower holds connections", "408 or the connection closes"},
		{"time to send a body", BodyFor.String(), "1 MiB over a slow line", "408 or the connection closes"},
		{"time to send the body of what is refused", awayFor.String(), "the answer waits for it, or would be lost", "the answer, and the connection closes"},
		{"idle connection", IdleFor.String(), "a browser asks again sooner or can reconnect", "the connection closes"},
		{"peer that has vanished", (keepIdle + keepTries*keepEvery).String(), "a line that was cut says nothing; the system asks", "the connection closes"},
		{"HTTP connections", fmt.Sprint(MaxConnections), "a descriptor and some 20 KiB each", "the connection closes"},
		{"HTTP connections from one address", fmt.Sprint(MaxFromOne), "one party cannot take them all", "the connection closes"},
		{"requests of an unknown party", rate(strangerBurst, strangerEvery), "a login page with its assets, a few times", "429 with Retry-After"},
		{"requests of a caller", rate(callerBurst, callerEvery), "all its clients come back after a restart", "429 with Retry-After"},
		{"commands of a user", rate(commandBurst, commandEvery), "a program that steers hundreds of sessions; the store takes many times as many", "`too_many_requests`: an `error` over WebSocket, 429 with Retry-After, −32007"},
		{"sessions of a user", fmt.Sprint(MaxSessions) + ", or `--max-sessions-per-user`", "some years of a busy person; an index row and a log each", "`quota_exceeded`: an `error` over WebSocket, 403, −32007"},
		{"WebSockets of a user", fmt.Sprint(MaxWebSockets), "browsers, editors, and a program that watches many sessions", "429 with Retry-After"},
		{"event streams of a user", fmt.Sprint(MaxStreams), "the same", "429 with Retry-After"},
		{"JSON-RPC connections of a user", fmt.Sprint(MaxLines), "some 100 KiB each", "429 with Retry-After"},
		{"users whose sessions are counted", fmt.Sprint(maxCounts), "one that was forgotten costs a look into the index", "none"},
		{"failures to authenticate from one address", rate(failBurst, failEvery), "people mistype; who has the right token is let in all the same", "429 with Retry-After"},
		{"token in a request", size(maxCredential), "a JWT with a few groups", "401"},
		{"named tokens", fmt.Sprint(MaxTokens), "more than anybody can keep track of", "harness token add refuses"},
		{"parts of a token's scope", fmt.Sprint(MaxScope), "it is looked through at each verb", "harness token add refuses"},
		{"login codes that wait", fmt.Sprint(maxCodes), "printed and not used; the oldest goes", "the code is not valid"},
		{"life of a login code", codeFor.String(), "long enough to click on it", "the code is not valid"},
		{"logins of browsers", fmt.Sprint(maxLogins), "the one that was away longest goes", "401"},
		{"login without use", loginIdle.String(), "a working day", "401"},
		{"login at all", loginFor.String(), "a week", "401"},
		{"owners remembered", fmt.Sprint(maxOwners), "one that was forgotten costs a look into the index", "none"},
		{"line of the access log", fmt.Sprint(maxField) + " characters a field", "a line is read by people", "the rest is cut"},
		{"log files", fmt.Sprintf("%s, %d of them", size(maxLogFile), keepLogs+1), "a week of a busy server; the oldest goes", "none"},
	}
}
