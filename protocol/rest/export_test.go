package rest

import "net/http/httptest"

// StatusOf is the status, the code and the text that stand for err.
func StatusOf(err error) (int, string, string) {
	p := asProblem(err)
	return p.Status, p.Code, p.Title + p.Detail
}

// Choose is the form of an answer that an Accept header gets.
func Choose(accept string, offered ...string) string {
	r := httptest.NewRequest("GET", "/", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	got, err := choose(r, offered...)
	if err != nil {
		return err.(*problem).Code
	}
	return got
}

// PageDefault is the length of a page that nobody asked for.
const PageDefault = pageDefault
