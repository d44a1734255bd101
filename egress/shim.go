package egress

import (
	"net"
	"strconv"
)

// shimWord is the first argument of a shim.
const shimWord = "egress-init"

// AnyPort as the port of [Wrap] lets the shim take a free one. AnyHost in the
// agent's arguments and environment then stands for what it took.
const (
	AnyPort = 0
	AnyHost = "127.0.0.1:0"
)

// Host is where an agent finds the relay of a port.
func Host(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Wrap returns the command line that runs an agent behind a relay: program is
// this program, as the sandbox sees it, and socket the proxy's.
func Wrap(program string, port int, socket string, agent ...string) []string {
	return append([]string{program, shimWord, strconv.Itoa(port), socket, "--"}, agent...)
}
