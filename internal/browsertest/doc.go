// Package browsertest drives a real Chromium from Go tests: pages that fail
// their test by what they complain of, the CPU time of their main thread, which
// does not depend on what else the machine does, and every byte they move.
package browsertest
