package agenttest

import (
	_ "embed" // for lock
	"encoding/json"
	"errors"
	"runtime"
	"strings"
)

// lock says which version of each program is the one, by its content.
//
//go:embed testdata/agents/package-lock.json
var lock []byte

// pin is what the lock says of a package.
type pin struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

// errUnpublished is about a program that npm has no package of for a platform.
var errUnpublished = errors.New("the lock file has no package of it for this platform")

// pinned is the package of a program for a platform.
func pinned(program, platform string) (p pin, err error) {
	var all struct {
		Packages map[string]pin `json:"packages"`
	}
	if err := json.Unmarshal(lock, &all); err != nil {
		return p, err
	}
	name, _, _ := strings.Cut(program, "$PLATFORM")
	p, ok := all.Packages["node_modules/"+name+platform]
	if !ok {
		return p, errUnpublished
	}
	return p, nil
}

// platform is this one, in the words of npm.
func platform() string {
	return runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
}
