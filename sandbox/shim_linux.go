package sandbox

import "harness/sandbox/internal/shim"

// Shim runs the helper process that stands between a sandbox and a command, if
// args are its command line. A program that opens sandboxes calls it first, with
// its arguments and environment, and exits with the code if mine is true.
func Shim(args, env []string) (code int, mine bool) { return shim.Main(args, env) }
