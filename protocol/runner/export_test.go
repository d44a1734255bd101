package runner

import (
	"bytes"
	"io"
	"maps"
	"slices"

	"harness"
)

// RoundTrip is what a server reads of a fact that an engine told.
func RoundTrip(p harness.Payload) (harness.Payload, error) {
	f, err := frameOf(p)
	if err != nil {
		return nil, err
	}
	f.ID = 1
	b, err := f.appendSSE(nil)
	if err != nil {
		return nil, err
	}
	got, err := newStream(io.NopCloser(bytes.NewReader(b))).Next()
	return got.Fact(), err
}

// Read reads a stream.
func Read(b []byte) *Stream { return newStream(io.NopCloser(bytes.NewReader(b))) }

// Guard checks an address, and a connection made for it.
func Guard(address string) (connect func(at string) error, err error) {
	_, g, err := parse(address)
	if err != nil {
		return nil, err
	}
	return func(at string) error { return g.control("tcp", at, nil) }, nil
}

// Patterns are those of every route.
func Patterns() []string { return slices.Collect(maps.Keys((&Runner{}).routes())) }
