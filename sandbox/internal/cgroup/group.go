//go:build linux

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Group is the group of one workspace, in as many hierarchies as it needs.
type Group struct {
	name    string
	unified string // directory in the unified hierarchy, or empty
	legacy  []string
	memory  string // the directory that counts kills for memory
}

// New makes a group with limits; zero is none. On failure nothing is left.
func (r *Root) New(pids int, memory int64) (*Group, error) {
	g := &Group{name: newName()}
	for _, dir := range r.dirs() {
		made := filepath.Join(dir, g.name)
		if err := os.Mkdir(made, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a control group: %w", err), g.Close())
		}
		if dir == r.unified {
			g.unified = made
		} else {
			g.legacy = append(g.legacy, made)
		}
	}
	if r.pids != "" && pids > 0 {
		if err := set(filepath.Join(r.pids, g.name), "pids.max", int64(pids)); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	if r.memory != "" {
		g.memory = filepath.Join(r.memory, g.name)
	}
	if r.memory != "" && memory > 0 {
		if err := limitMemory(g.memory, memory); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	return g, nil
}

func limitMemory(dir string, bytes int64) error {
	if _, err := os.Stat(filepath.Join(dir, "memory.max")); err == nil {
		_ = set(dir, "memory.swap.max", 0) // absent without swap
		return set(dir, "memory.max", bytes)
	}
	err := set(dir, "memory.limit_in_bytes", bytes)
	_ = set(dir, "memory.memsw.limit_in_bytes", bytes) // absent without swap accounting
	return err
}

func set(dir, file string, n int64) error {
	return os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, n, 10), 0)
}

// Run makes the group of one process tree and returns its directory, which is
// what Kill takes. It is empty where there is no unified hierarchy.
func (g *Group) Run(name string) (string, error) {
	if g.unified == "" {
		return "", nil
	}
	dir := filepath.Join(g.unified, name)
	return dir, os.Mkdir(dir, 0o755)
}

// Legacy returns the directories of version 1 whose tasks file a thread must
// join before it starts a process of this group.
func (g *Group) Legacy() []string { return g.legacy }

// Add moves a process into the group and into run, the group of its tree.
func (g *Group) Add(run string, pid int) error {
	for _, dir := range append([]string{run}, g.legacy...) {
		if dir == "" {
			continue
		}
		if err := set(dir, "cgroup.procs", int64(pid)); err != nil {
			return fmt.Errorf("move process %d: %w", pid, err)
		}
	}
	return nil
}

// MemoryKills counts the processes that were killed because the group had no
// memory left.
func (g *Group) MemoryKills() int {
	if g.memory == "" {
		return 0
	}
	for _, file := range []string{"memory.events", "memory.oom_control"} {
		b, err := os.ReadFile(filepath.Join(g.memory, file))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
				kills, _ := strconv.Atoi(n)
				return kills
			}
		}
	}
	return 0
}

// Close kills what is left in the group and removes it.
func (g *Group) Close() error {
	var errs []error
	for _, dir := range append([]string{g.unified}, g.legacy...) {
		if dir != "" {
			errs = append(errs, remove(dir))
		}
	}
	return errors.Join(errs...)
}

// Kill kills every process in the group dir, at once. It returns before they
// are gone.
func Kill(dir string) error {
	if dir == "" {
		return nil
	}
	return set(dir, "cgroup.kill", 1)
}

// Remove removes the group of a tree, which must have ended.
func Remove(dir string) error {
	if dir == "" {
		return nil
	}
	return remove(dir)
}

// leaving is how long the kernel may take to see that the last process left.
const leaving = 5 * time.Second

// remove kills what is in dir and its groups and removes them.
func remove(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_ = Kill(dir)
	var errs []error
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, remove(filepath.Join(dir, e.Name())))
		}
	}
	pause := 100 * time.Microsecond
	for deadline := time.Now().Add(leaving); ; pause *= 2 {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			errs = append(errs, err)
			break
		}
		time.Sleep(pause)
	}
	return errors.Join(errs...)
}
