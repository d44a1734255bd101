package gateway

import "net/http"

// MaxOwners is the bound of remembered owners.
const MaxOwners = maxOwners

// Owners is how many are remembered.
func (g *Gate) Owners() int { return g.owners.len() }

// Known reports whether the browser of a request is logged in.
func (l *Logins) Known(r *http.Request) bool {
	_, ok := l.caller(r)
	return ok
}
