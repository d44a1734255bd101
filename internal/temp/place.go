package temp

import (
	"path/filepath"
	"slices"
)

// MaxPath is how long the path of a directory is at most, so that a program can
// have sockets in it: their paths have 107 bytes, and Claude Code's add 22,
// "/cc-socks/4194304.sock".
const MaxPath = 80

// prefix is how the names begin.
const prefix = "harness-tmp-"

// maxPlace is how long the path of a place is at most: names end in a number of
// 32 bits.
const maxPlace = MaxPath - len("/"+prefix+"4294967295")

// short are the places that systems have, whatever TMPDIR says.
var short = []string{"/tmp", "/var/tmp"}

// places are where to make a directory, one after the other: where the system
// wants it if its path is short enough, else there last.
func places(wanted string) []string {
	if wanted = filepath.Clean(wanted); len(wanted) <= maxPlace {
		return []string{wanted}
	}
	return append(slices.Clone(short), wanted)
}
