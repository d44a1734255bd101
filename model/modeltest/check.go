package modeltest

import (
	"iter"
	"testing"

	"harness/model"
	"harness/model/wire"
)

// Ask takes one answer and checks that the stream is well formed. It returns
// what came until the end, and the error if there was one.
func Ask(tb testing.TB, c model.Client, r *model.Request) (*model.Answer, error) {
	tb.Helper()
	return Check(tb, c.Stream(tb.Context(), r))
}

// Check reads a stream and fails the test for everything a Client promises
// never to do.
func Check(tb testing.TB, stream iter.Seq2[model.Chunk, error]) (*model.Answer, error) {
	tb.Helper()
	a := &model.Answer{}
	var g wire.Grammar
	var failed error
	for c, err := range stream {
		switch {
		case failed != nil || a.Stop != "":
			tb.Errorf("after its end the stream goes on with %+v, %v", c, err)
		case err != nil:
			failed = err
		default:
			if complaint := g.Take(&c); complaint != "" {
				tb.Errorf("%s: %+v", complaint, c)
			}
			a.Add(c)
		}
	}
	switch {
	case failed == nil && a.Stop == "":
		tb.Error("the stream ended without a stop and without an error")
	}
	return a, failed
}
