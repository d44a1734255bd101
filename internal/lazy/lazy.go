// Package lazy has values that are made when they are first used. A package
// variable of such a type is data that the linker lays out; it is no work at
// the start of a process, and processes are many: every helper of a sandbox is
// this program, too.
package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first used. Any
// number of goroutines may use it.
type Regexp struct {
	Expr string

	once     sync.Once
	compiled *regexp.Regexp
}

// Get returns the compiled expression. It panics if Expr is none.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.Expr) })
	return r.compiled
}

// Words is a set of words, written with blanks between them.
type Words struct {
	Text string

	once sync.Once
	set  map[string]bool
}

// Has reports whether word is one of them.
func (w *Words) Has(word string) bool {
	w.once.Do(func() {
		w.set = make(map[string]bool)
		for each := range strings.FieldsSeq(w.Text) {
			w.set[each] = true
		}
	})
	return w.set[word]
}
