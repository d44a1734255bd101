//go:build linux

// Package cgroup makes control groups where this process may make them.
//
// Version 2, version 1 and the mix of both are found by trying: a limit that
// cannot be set is not claimed. A group's name says which process made it, so
// that groups of a process that was killed are removed by the next one.
package cgroup

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/proc"
)

// Root is where groups can be made.
type Root struct {
	unified string // version 2: kills, and limits if it has the controllers
	pids    string // the directory with the pids controller, of either version
	memory  string
}

// Can says what groups of this root do.
func (r *Root) Can() (kill, pids, memory bool) {
	return r.unified != "", r.pids != "", r.memory != ""
}

// Find looks where groups can be made and removes those that dead processes
// have left there. It never fails: a root that can do nothing is an answer.
func Find() *Root {
	r := &Root{}
	for _, h := range hierarchies() {
		switch {
		case h.version == 2:
			for _, dir := range []string{h.own, filepath.Dir(h.own)} {
				if !strings.HasPrefix(dir, h.mount) || !usable(dir, "cgroup.kill") {
					continue
				}
				if r.unified == "" {
					r.unified = dir
				}
				// The parent of our group can have controllers that our own,
				// which holds processes, cannot hand on.
				if usable(dir, "pids.max") && usable(dir, "memory.max") {
					r.unified, r.pids, r.memory = dir, dir, dir
					break
				}
			}
		case slices.Contains(h.controllers, "pids") && r.pids == "" && usable(h.own, "pids.max"):
			r.pids = h.own
		case slices.Contains(h.controllers, "memory") && r.memory == "" && usable(h.own, "memory.limit_in_bytes"):
			r.memory = h.own
		}
	}
	for _, dir := range r.dirs() {
		reclaim(dir)
	}
	return r
}

func (r *Root) dirs() (dirs []string) {
	for _, dir := range []string{r.unified, r.pids, r.memory} {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// usable reports whether a group can be made in dir, has the file, lets us write
// it, and takes processes of ours.
func usable(dir, file string) bool {
	name := filepath.Join(dir, newName())
	if os.Mkdir(name, 0o755) != nil {
		return false
	}
	defer os.Remove(name)
	return unix.Access(filepath.Join(name, file), unix.W_OK) == nil &&
		unix.Access(filepath.Join(name, "cgroup.procs"), unix.W_OK) == nil &&
		unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil // needed to move processes below dir
}

const prefix = "harness-"

// newName names a group after this process.
func newName() string {
	self, _ := proc.Read(os.Getpid())
	return fmt.Sprintf("%s%d-%d-%s", prefix, self.PID, self.Started, rand.Text()[:10])
}

// reclaim removes the groups in dir whose makers are dead.
func reclaim(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, name := range found {
		f := strings.Split(strings.TrimPrefix(filepath.Base(name), prefix), "-")
		if len(f) != 3 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		started, err2 := strconv.ParseUint(f[1], 10, 64)
		if errors.Join(err1, err2) == nil && !proc.Alive(pid, started) {
			_ = remove(name)
		}
	}
}

type hierarchy struct {
	version     int
	controllers []string
	mount       string // where it is mounted
	own         string // the directory of our own group
}

// hierarchies joins /proc/self/cgroup with the mounts.
func hierarchies() (found []hierarchy) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for m := range strings.Lines(string(mounts)) {
			before, after, ok := strings.Cut(strings.TrimSpace(m), " - ")
			where, kind := strings.Fields(before), strings.Fields(after)
			if !ok || len(where) < 5 || len(kind) < 3 {
				continue
			}
			h := hierarchy{version: 1, controllers: strings.Split(f[1], ","), mount: where[4]}
			switch {
			case f[1] == "" && kind[0] == "cgroup2":
				h.version = 2
			case f[1] != "" && kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), h.controllers[0]):
			default:
				continue
			}
			// In a container the mount may show a part of the hierarchy only.
			if rel, err := filepath.Rel(where[3], f[2]); err == nil && !strings.HasPrefix(rel, "..") {
				h.own = filepath.Join(h.mount, rel)
				found = append(found, h)
			}
			break
		}
	}
	return found
}
