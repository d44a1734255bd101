package harness

import "fmt"

// Limit is a bound in words, for people and documents: what is bounded, by how
// much, why, and what one hears who meets it. Every package that bounds what a
// client can make a server hold or do lists its own.
type Limit struct {
	Name, Value, Reason, Answer string
}

// ByteSize is n bytes as people write them; n is a number of whole KiB.
func ByteSize(n int64) string {
	switch {
	case n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
