// Package mint makes new identifiers. It is apart from the root because it reads
// the clock and the system's randomness, which the root does not.
package mint

import (
	"crypto/rand"
	"time"

	"harness"
)

// ID makes an identifier that nobody has made before; see [harness.MintID].
func ID(prefix string) string {
	var entropy [10]byte
	rand.Read(entropy[:])
	return harness.MintID(prefix, time.Now(), entropy)
}
