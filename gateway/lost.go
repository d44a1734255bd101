package gateway

import (
	_ "embed"
	"net/http"
	"strings"

	"harness"
)

// lostPage says that there is nothing, to people. It says nothing of the address,
// which anybody can have written.
//
//go:embed lost.html
var lostPage []byte

// Lost answers people who look for a page that is not there with one that says
// so; programs are answered by next.
func Lost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			next.ServeHTTP(w, r)
			return
		}
		if l, ok := w.(*line); ok {
			l.refusal = &harness.Refusal{Code: "no_such_path", Text: "no such page"}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		if r.Method != http.MethodHead {
			_, _ = w.Write(lostPage) // a browser that is gone needs none
		}
	})
}
