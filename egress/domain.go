package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"harness"
)

// maxName and maxLabel bound a host name, as DNS does.
const (
	maxName  = 253
	maxLabel = 63
)

// plainName returns a host name in lower case if it is letters, digits and
// hyphens in labels, at least two of them, and no address: what every resolver
// and every list reads alike. A trailing dot is not.
func plainName(s string) (string, bool) {
	if len(s) > maxName {
		return "", false
	}
	s = lowerASCII(s)
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > maxLabel || l[0] == '-' || l[len(l)-1] == '-' {
			return "", false
		}
		for i := range len(l) {
			if c := l[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
				return "", false
			}
		}
	}
	last := labels[len(labels)-1]
	if len(labels) < 2 || last[0] >= '0' && last[0] <= '9' { // an address, in one of its many forms
		return "", false
	}
	return s, true
}

// lowerASCII does not touch letters that only look like ours when lowered.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// domains is a list of names, and of suffixes.
type domains struct{ names, suffixes []string }

// parseDomains reads names and *.suffixes. A suffix does not stand for the name
// itself, and nobody may list a whole top level.
func parseDomains(list []string) (d domains, err error) {
	for _, s := range list {
		name, ok := plainName(strings.TrimPrefix(s, "*."))
		if _, err := netip.ParseAddr(s); err == nil || !ok {
			return d, fmt.Errorf("egress: %q is no domain: %w", s, harness.ErrInvalid)
		}
		if strings.HasPrefix(s, "*.") {
			d.suffixes = append(d.suffixes, "."+name)
		} else {
			d.names = append(d.names, name)
		}
	}
	return d, nil
}

// allow reports whether a plain name is on the list. A name with punycode looks
// like another to people: only an exact entry allows it, never a suffix.
func (d domains) allow(name string) bool {
	if slices.Contains(d.names, name) {
		return true
	}
	for label := range strings.SplitSeq(name, ".") {
		if strings.HasPrefix(label, "xn--") {
			return false
		}
	}
	return slices.ContainsFunc(d.suffixes, func(s string) bool { return strings.HasSuffix(name, s) && len(name) > len(s) })
}

// Listed reports of names whether a list of domains has them, as [Forward] does.
func Listed(list []string) (func(name string) bool, error) {
	d, err := parseDomains(list)
	if err != nil {
		return nil, err
	}
	return func(name string) bool {
		plain, ok := plainName(name)
		return ok && d.allow(plain)
	}, nil
}
