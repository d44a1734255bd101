//go:build !linux

package bench

import "testing"

// forget takes a file out of the page cache, where that can be asked for.
func forget(testing.TB, string) {}
