package rest

import (
	"testing"
	"unsafe"
)

func TestRowsAreSmall(t *testing.T) {
	if n := unsafe.Sizeof(stream{}); n > 96 {
		t.Errorf("a stream has %d bytes, want at most 96 (the allocator's size class)", n)
	}
	if n := unsafe.Sizeof(room{}); n > 112 {
		t.Errorf("a room has %d bytes, want at most 112 (the allocator's size class)", n)
	}
}
