package gateway

import (
	"fmt"
	"time"

	"harness"
	"harness/internal/strict"
)

// Limits of the edge. Each is a bound on what somebody who is not known yet, or
// who is known and careless, can make the server hold or do.
const (
	MaxHeader      = 16 << 10         // a JWT and the headers of any browser
	MaxURL         = 8 << 10          // a cursor and a few filters
	MaxBody        = 1 << 20          // a prompt of 512 KiB, escaped
	HeaderFor      = 5 * time.Second  // to send a head, over any line
	BodyFor        = 30 * time.Second // to send a body, over a slow one
	AnswerFor      = time.Minute      // until a stranger has taken its answer: the login page, over a slow line
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

// Limits lists every bound of the gateway and what one hears who meets it.
func Limits() []harness.Limit {
	size := harness.ByteSize
	limit := func(name, value, reason, answer string) harness.Limit {
		return harness.Limit{Name: name, Value: value, Reason: reason, Answer: answer}
	}
	rate := func(burst int, every time.Duration) string {
		if every > time.Second {
			return fmt.Sprintf("%d at once, then one every %s", burst, every)
		}
		return fmt.Sprintf("%d at once, then %d per second", burst, time.Second/every)
	}
	return []harness.Limit{
		limit("head of a request", size(MaxHeader), "a JWT and the headers of any browser", "431"),
		limit("URL", size(MaxURL), "a cursor and a few filters", "414"),
		limit("body of a request", size(MaxBody), "the largest prompt, escaped; importing has its own bound", "413"),
		limit("depth of JSON", fmt.Sprint(strict.MaxDepth)+" levels", "no message of ours has ten", "`invalid`: an `error` over WebSocket, 400, −32700"),
		limit("keys of an object of JSON", fmt.Sprint(strict.MaxKeys), "the cost of finding one that is there twice", "`invalid`: an `error` over WebSocket, 400, −32700"),
		limit("body of a login", size(maxLoginBody), "a code and a path", "413"),
		limit("claims of a provider's token", size(maxClaims), "a user with a thousand groups; at a login no head bounds them", "401"),
		limit("time to send a head", HeaderFor.String(), "any line is faster; whoever is slower holds connections", "408 or the connection closes"),
		limit("time to send a body", BodyFor.String(), "1 MiB over a slow line", "408 or the connection closes"),
		limit("time to send the body of what is refused", awayFor.String(), "the answer waits for it, or would be lost", "the answer, and the connection closes"),
		limit("time to take the answer to what is refused, or for everybody", AnswerFor.String(), "who does not read holds a connection", "the connection closes"),
		limit("idle connection", IdleFor.String(), "a browser asks again sooner or can reconnect", "the connection closes"),
		limit("peer that has vanished", (keepIdle + keepTries*keepEvery).String(), "a line that was cut says nothing; the system asks", "the connection closes"),
		limit("HTTP connections", fmt.Sprint(MaxConnections), "a descriptor and some 20 KiB each", "the connection closes"),
		limit("HTTP connections from one address", fmt.Sprint(MaxFromOne), "one party cannot take them all", "the connection closes"),
		limit("requests of an unknown party", rate(strangerBurst, strangerEvery), "a login page with its assets, a few times", "429 with Retry-After"),
		limit("requests of a caller", rate(callerBurst, callerEvery), "all its clients come back after a restart", "429 with Retry-After"),
		limit("commands of a user", rate(commandBurst, commandEvery), "a program that steers hundreds of sessions; the store takes many times as many", "`too_many_requests`: an `error` over WebSocket, 429 with Retry-After, −32007"),
		limit("sessions of a user", fmt.Sprint(MaxSessions)+", or `--max-sessions-per-user`", "some years of a busy person; an index row and a log each", "`quota_exceeded`: an `error` over WebSocket, 403, −32007"),
		limit("what the sessions of a user store", size(MaxStored)+", or `--max-gib-per-user`", "twenty full sessions; counted once a minute", "`quota_exceeded` for what would store more"),
		limit("WebSockets of a user", fmt.Sprint(MaxWebSockets), "browsers, editors, and a program that watches many sessions", "429 with Retry-After"),
		limit("event streams of a user", fmt.Sprint(MaxStreams), "the same", "429 with Retry-After"),
		limit("JSON-RPC connections of a user", fmt.Sprint(MaxLines), "some 100 KiB each", "429 with Retry-After"),
		limit("users whose sessions are counted", fmt.Sprint(maxCounts), "one that was forgotten costs a look into the index", "none"),
		limit("failures to authenticate from one address", rate(failBurst, failEvery), "people mistype; who has the right token is let in all the same", "429 with Retry-After"),
		limit("token in a request", size(maxCredential), "a JWT with a few groups", "401"),
		limit("named tokens", fmt.Sprint(MaxTokens), "more than anybody can keep track of", "harness token add refuses"),
		limit("parts of a token's scope", fmt.Sprint(MaxScope), "it is looked through at each verb", "harness token add refuses"),
		limit("login codes of a credential that wait", fmt.Sprint(maxCodesOf), "printed and not used; its oldest goes", "the code is not valid"),
		limit("login codes that wait", fmt.Sprint(maxCodes), "those of many callers; nobody's goes for another's", "429 with Retry-After for a new one"),
		limit("life of a login code", codeFor.String(), "long enough to click on it", "the code is not valid"),
		limit("logins of a credential", fmt.Sprint(maxLoginsOf), "the browsers of a person, on all machines; its one that was away longest goes", "401"),
		limit("logins of browsers", fmt.Sprint(maxLogins), "they are read whole, by every server; nobody's goes for another's", "429 with Retry-After for a new one"),
		limit("login without use", loginIdle.String(), "a working day", "401"),
		limit("login at all", loginFor.String(), "a week", "401"),
		limit("owners remembered", fmt.Sprint(maxOwners), "one that was forgotten costs a look into the index", "none"),
		limit("refusals of a caller, or of a stranger's address, in the audit", rate(refusalBurst, refusalEvery), "a flood must not drive decisions out of the log", "none; its next line says how many were left out"),
		limit("refusals of all strangers in the audit", rate(strangerLines, refusalEvery), "they have as many addresses as they like", "none; the next line says how many were left out"),
		limit("line of the logs", fmt.Sprint(maxField)+" characters a field", "a line is read by people", "the rest is cut"),
		limit("log files", fmt.Sprintf("%s, %d of them", size(maxLogFile), keepLogs+1), "a week of a busy server; the oldest goes", "none"),
	}
}
