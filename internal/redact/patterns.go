package redact

import "bytes"

// verdict is what a pattern says of a place in a text.
type verdict int

const (
	isNot verdict = iota
	is
	unknown // until more of the text is there
)

// pattern is what secrets of a kind look like.
type pattern struct {
	prefix string
	word   bool // nothing that could belong to a word stands before it
	// match looks at b, which begins with the prefix; all says that nothing
	// follows b. If it is one, it goes on for size bytes at least.
	match func(b []byte, all bool) (size int, v verdict)
	// swallow is how much of b still belongs to a secret that had begun before
	// b, and whether it ends there; all says that nothing follows b. It must not
	// take what could be code: see [TestWhatAPatternTakesOutIsNoCode].
	swallow func(b []byte, all bool) (size int, ends bool)
	most    int // of what is swallowed; 0: as far as it goes
}

// set is a set of bytes.
type set [256]bool

func setOf(ranges string) *set {
	s := new(set)
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := int(ranges[i]); c <= int(ranges[i+1]); c++ {
			s[c] = true
		}
	}
	return s
}

var (
	alnum  = setOf("azAZ09")
	upper  = setOf("AZ09")
	token  = setOf("azAZ09__--")
	bearer = setOf("azAZ09__--..~~++//==")
	dotted = setOf("azAZ09__--..")
)

// run is how many bytes of b are in the set.
func (s *set) run(b []byte) int {
	for i, c := range b {
		if !s[c] {
			return i
		}
	}
	return len(b)
}

// lookAhead bounds how far a pattern looks for something that makes it one.
const lookAhead = 64

// key is a prefix with at least so many of a set behind it, perhaps with a
// digit among the first: names of things have none.
func key(prefix string, of *set, least int, digit bool) pattern {
	return pattern{
		prefix: prefix, word: true,
		match: func(b []byte, all bool) (int, verdict) {
			rest := b[len(prefix):]
			n := of.run(rest[:min(len(rest), max(least, lookAhead))])
			open := n == len(rest) && !all
			digits := !digit || bytes.ContainsAny(rest[:n], "0123456789")
			switch {
			case n >= least && digits:
				return len(prefix) + of.run(rest), is
			case open && n < max(least, lookAhead):
				return 0, unknown
			}
			return 0, isNot
		},
		swallow: func(b []byte, _ bool) (int, bool) { n := of.run(b); return n, n < len(b) },
	}
}

// maxJWTHead bounds the first part of a JWT.
const maxJWTHead = 512

// jwt is two parts in base64 that both begin with {" and whatever follows.
func jwt() pattern {
	return pattern{
		prefix: "eyJ", word: true,
		match: func(b []byte, all bool) (int, verdict) {
			n := token.run(b[:min(len(b), maxJWTHead)])
			const next = ".eyJ"
			rest := b[n:]
			switch {
			case n == maxJWTHead || n < 10 && n < len(b):
				return 0, isNot
			case bytes.HasPrefix(rest, []byte(next)):
				return n + dotted.run(rest), is
			case !all && bytes.HasPrefix([]byte(next), rest):
				return 0, unknown
			}
			return 0, isNot
		},
		swallow: func(b []byte, _ bool) (int, bool) { n := dotted.run(b); return n, n < len(b) },
	}
}

// patterns are all kinds, at most 32.
func patterns() []pattern {
	return []pattern{
		key("sk-", token, 20, true), // Anthropic, OpenAI and those who copy them
		key("hk_", token, 40, false),
		key("ghp_", alnum, 30, false), key("gho_", alnum, 30, false), key("ghu_", alnum, 30, false), key("ghs_", alnum, 30, false), key("ghr_", alnum, 30, false),
		key("github_pat_", token, 22, false),
		key("glpat-", token, 20, false),
		key("npm_", alnum, 36, false),
		key("AKIA", upper, 16, false), key("ASIA", upper, 16, false),
		key("AIza", token, 35, false),
		key("xoxb-", token, 20, true), key("xoxp-", token, 20, true), key("xoxa-", token, 20, true),
		key("Bearer ", bearer, 20, false), key("bearer ", bearer, 20, false),
		jwt(), pem(),
	}
}
