//go:build !linux

package jsonl

import "os"

// flush makes what was written to f durable, and its length.
func flush(f *os.File) error { return f.Sync() }
