package agenttest

import (
	_ "embed" // for lock files
	"encoding/json"
	"errors"
	"runtime"
	"strings"
)

// natives and scripts say which version of each program is the one, by its
// content.
var (
	//go:embed testdata/agents/package-lock.json
	natives []byte
	//go:embed testdata/node/package-lock.json
	scripts []byte
)

// inNode reports whether a program is a script for Node.
func inNode(program string) bool { return strings.HasSuffix(program, ".js") }

// lockOf is the lock file that has a program, and what its directory is called.
func lockOf(program string) (kind string, lock []byte) {
	if inNode(program) {
		return "node-agents", scripts
	}
	return "agents", natives
}

// pin is what the lock says of a package.
type pin struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

// Version is that of a program on Linux with an x64 processor, where recordings
// are made; "" if it has none.
func Version(program string) string {
	p, err := pinned(program, recorded)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(p.Version, "-"+recorded)
}

// recorded is the platform on which recordings are made.
const recorded = "linux-x64"

// errUnpublished is about a program that npm has no package of for a platform.
var errUnpublished = errors.New("the lock file has no package of it for this platform")

// pinned is the package of a program for a platform.
func pinned(program, platform string) (p pin, err error) {
	var all struct {
		Packages map[string]pin `json:"packages"`
	}
	_, lock := lockOf(program)
	if err := json.Unmarshal(lock, &all); err != nil {
		return p, err
	}
	name, _, one := strings.Cut(program, "$PLATFORM")
	if one {
		name += platform
	} else {
		name = strings.Join(strings.SplitN(program, "/", 3)[:2], "/")
	}
	p, ok := all.Packages["node_modules/"+name]
	if !ok {
		return p, errUnpublished
	}
	return p, nil
}

// platform is this one, in the words of npm.
func platform() string {
	return runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
}
