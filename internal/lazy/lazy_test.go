package lazy

import (
	"sync"
	"testing"
)

func TestRegexpIsCompiledOnceAndByItsFirstUse(t *testing.T) {
	t.Parallel()
	r := Regexp{Expr: `^a+$`}
	if r.compiled != nil {
		t.Fatal("it is compiled before it is used")
	}
	first := make(chan any, 8) // one for each goroutine
	var wg sync.WaitGroup
	for range cap(first) {
		wg.Go(func() { first <- r.Get() })
	}
	wg.Wait()
	for range cap(first) {
		if got := <-first; got != any(r.Get()) {
			t.Fatal("two callers got two expressions")
		}
	}
	if !r.Get().MatchString("aaa") || r.Get().MatchString("ab") {
		t.Error("it is not the expression that was given")
	}
}

func TestWordsAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	w := Words{Text: "go make\n\tsh "}
	for _, word := range []string{"go", "make", "sh"} {
		if !w.Has(word) {
			t.Errorf("%q is not among them", word)
		}
	}
	for _, word := range []string{"", "g", "go make", " "} {
		if w.Has(word) {
			t.Errorf("%q is among them", word)
		}
	}
}
