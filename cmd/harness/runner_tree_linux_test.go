package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"harness/custody"
	"harness/sandbox/sandboxtest"
)

// treeSize is how many processes the probe's tree has: some in a session of
// their own, some deaf to signals, some that nobody waits for.
const treeSize = 6

// having are the processes with a word in their command line, in namespaces,
// too.
func having(word string) (found map[int]string) {
	found = map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(word)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			found[pid] = string(b)
		}
	}
	return found
}

// Whoever ends, and however, nothing is left of what an agent below a runner
// has started.
func TestNothingIsLeftOfATreeBelowARunner(t *testing.T) {
	t.Parallel()
	probe := sandboxtest.Probe(t)
	for _, sandbox := range []string{"auto", "local"} {
		for name, end := range map[string]func(t *testing.T, v *viewer, dir, mark string){
			"cancel": func(t *testing.T, v *viewer, _, _ string) {
				acked(t, v.do(`"type":"cancel"`))
				v.see("the end of the turn", func(s seen) bool { return s.Status == "idle" })
			},
			"kill -9 of the runner": func(t *testing.T, v *viewer, dir, _ string) {
				for _, e := range hosts(t, dir) {
					if e.Role == custody.Runner {
						if err := custody.Kill(t.Context(), e); err != nil {
							t.Fatal(err)
						}
					}
				}
				s := v.see("the end of the turn", func(s seen) bool { return s.Status == "error" })
				if !strings.Contains(s.Error, "the runner died, and the agent with it") {
					t.Errorf("the error is %q", s.Error)
				}
			},
			"kill -9 of the agent": func(t *testing.T, v *viewer, _, mark string) {
				for pid, line := range having(mark) {
					if line == strings.Join([]string{probe, "tree", mark, ""}, "\x00") {
						if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
							t.Error(err)
						}
					}
				}
				v.see("the end of the turn", func(s seen) bool { return s.Status == "idle" && len(s.Messages) > 1 })
			},
		} {
			t.Run(sandbox+", "+name, func(t *testing.T) {
				t.Parallel()
				dir, mark := t.TempDir(), "mark-"+rand.Text()
				t.Cleanup(func() {
					if _, err := book(t, dir).Reconcile(context.Background(), func(custody.Entry) bool { return false }); err != nil {
						t.Error(err)
					}
				})
				p := start(t, "--data", dir, "--cwd", t.TempDir(), "--engine", "runner:native", "--model", "offline", "--pace", "0s",
					"--sandbox", sandbox, "--sandbox-read", filepath.Dir(probe))
				v := p.view("?userId=ada")
				acked(t, v.do(`"type":"configure","config":{"permissionMode":"fullAuto"}`))
				acked(t, v.submit("run `"+probe+" tree "+mark+"`"))
				until(t, "the tree to grow", func() bool {
					grown := 0
					for _, line := range having(mark) {
						if strings.HasPrefix(line, "/proc/self/exe\x00hold") || strings.HasPrefix(line, probe+"\x00tree") {
							grown++
						}
					}
					return grown >= treeSize-1 // the last of them starts no other
				})
				end(t, v, dir, mark)
				if left := having(mark); len(left) > 0 {
					if name != "kill -9 of the runner" {
						t.Errorf("%d processes are left: %v", len(left), left)
					}
					until(t, "the tree to be gone", func() bool { return len(having(mark)) == 0 })
				}
				until(t, "the book to be without the agent", func() bool {
					for _, e := range hosts(t, dir) {
						if e.Role == custody.Agent {
							return false
						}
					}
					return true
				})
			})
		}
	}
}
