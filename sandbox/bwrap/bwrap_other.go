//go:build !linux

package bwrap

import "harness/sandbox/internal/absent"

// Sandbox does not work on this system.
type Sandbox = absent.Sandbox

// New returns a sandbox that says so.
func New(*Options) *Sandbox { return absent.New("bwrap") }
