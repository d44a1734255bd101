package policy

import (
	"fmt"
	"net/url"
	"strings"
)

// host is where a call goes.
type host struct {
	name string // in lower case
	port string // as it was given
	sure bool   // it is an ordinary address of the web
}

func hostOf(address string) host {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return host{}
	}
	h := host{name: strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port: u.Port()}
	h.sure = (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && plainHost(h.name)
	if h.port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		h.port = ""
	}
	return h
}

// plainHost reports whether a name is written in the one usual way: letters,
// digits, dots and hyphens, and no number but four decimal ones.
func plainHost(name string) bool {
	if name == "" {
		return false
	}
	labels := strings.Split(name, ".")
	numbers := 0
	for _, l := range labels {
		if l == "" {
			return false
		}
		digits := true
		for i := range len(l) {
			c := l[i]
			if c < '0' || c > '9' {
				digits = false
				if (c < 'a' || c > 'z') && c != '-' && c != '_' {
					return false
				}
			}
		}
		if digits {
			numbers++
			if len(l) > 1 && l[0] == '0' || len(l) > 3 {
				return false
			}
		} else if strings.HasPrefix(l, "0x") {
			return false
		}
	}
	return numbers == 0 || len(labels) == 4 && numbers == 4 || numbers < len(labels) && !isDigits(labels[len(labels)-1])
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// hostPattern is a host, or with *. all below it, and perhaps a port.
type hostPattern struct{ name, port string }

func newHostPattern(s string) (hostPattern, error) {
	name, port, _ := strings.Cut(s, ":")
	bare := strings.TrimPrefix(name, "*.")
	if !plainHost(bare) || port != "" && port != "*" && !isDigits(port) {
		return hostPattern{}, fmt.Errorf("%q is not a host such as example.com, *.example.com or example.com:8080, in lower case", s)
	}
	return hostPattern{name, port}, nil
}

// covers reports whether an address is surely meant; without a port, only the
// usual one of its scheme is.
func (p hostPattern) covers(h host) bool {
	return h.sure && p.named(h.name) && (p.port == "*" || p.port == h.port)
}

// touches says whether an address is meant, or may be in another spelling.
func (p hostPattern) touches(h host) match {
	switch {
	case h.name != "" && p.named(h.name) && (p.port == "" || p.port == "*" || p.port == h.port):
		return yes
	case h.name == "" || !plainHost(h.name):
		return maybe
	}
	return no
}

func (p hostPattern) named(name string) bool {
	if below, ok := strings.CutPrefix(p.name, "*"); ok {
		return strings.HasSuffix(name, below)
	}
	return p.name == name
}
