//go:build !linux

package folder

import "errors"

// Swap is for Linux alone.
func (f *Folder) Swap(*Folder, string, string) error { return errors.ErrUnsupported }

// Refill is for Linux alone.
func (f *Folder) Refill(string, []byte, uint32) (bool, error) { return false, nil }
