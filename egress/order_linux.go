package egress

import (
	"strconv"
	"strings"
)

// order is the command line of a shim, read.
type order struct {
	port   int
	socket string
	agent  []string
}

// readOrder reads a command line, if it is a shim's. A wrong one is valid = false.
func readOrder(args []string) (o order, mine, valid bool) {
	if len(args) < 2 || args[1] != shimWord {
		return o, false, false
	}
	if len(args) < 6 || args[4] != "--" {
		return o, true, false
	}
	port, err := strconv.ParseUint(args[2], 10, 16)
	o = order{port: int(port), socket: args[3], agent: args[5:]}
	return o, true, err == nil && o.socket != ""
}

// fill puts an address in the place of AnyHost.
func fill(list []string, host string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = replaceHost(s, host)
	}
	return out
}

// replaceHost replaces AnyHost where no other port begins with its 0.
func replaceHost(s, host string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, AnyHost)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			b.WriteString(AnyHost)
		} else {
			b.WriteString(host)
		}
		s = rest
	}
}
