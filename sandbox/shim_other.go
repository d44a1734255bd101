//go:build !linux

package sandbox

// Shim does nothing: sandboxes of this system need no helper.
func Shim([]string, []string) (code int, mine bool) { return 0, false }
