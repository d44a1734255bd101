package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// What packages may allocate before main begins, in every process of ours: each
// helper of a sandbox is this program, too. A table or an expression that is
// over this belongs behind sync.OnceValue or in internal/lazy.
const (
	maxInitBytes  = 8 << 10   // of one package of ours
	maxInitAllocs = 100       // likewise
	maxStartBytes = 640 << 10 // of all packages, other people's included
)

// grownInits are packages of ours that need more, and why.
var grownInits = map[string]int{
	"harness": 16 << 10, // the inventory of events, which every codec looks into
}

// TestAStartAllocatesNextToNothing counts bytes, which do not depend on how busy
// the machine is.
func TestAStartAllocatesNextToNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	total, seen := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`).FindAllStringSubmatch(string(out), -1) {
		var bytes, allocs int
		if _, err := fmt.Sscan(m[2]+" "+m[3], &bytes, &allocs); err != nil {
			t.Fatal(err)
		}
		total, seen = total+bytes, seen+1
		if name := m[1]; name == "main" || name == "harness" || strings.HasPrefix(name, "harness/") {
			if most := max(maxInitBytes, grownInits[name]); bytes > most || allocs > maxInitAllocs {
				t.Errorf("%s allocates %d bytes in %d pieces before main begins; %d in %d are allowed", name, bytes, allocs, most, maxInitAllocs)
			}
		}
	}
	if seen < 50 {
		t.Fatalf("only %d packages were told of:\n%s", seen, out)
	}
	if total > maxStartBytes {
		t.Errorf("all packages together allocate %d bytes before main begins; %d are allowed", total, maxStartBytes)
	}
}
