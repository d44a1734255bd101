//go:build linux

// Package proc reads and ends trees of processes through /proc and pidfds.
//
// A process is identified by its number and the time of its start, so that a
// number that was given to somebody else is never signalled.
package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Stat is what the kernel says about a process.
type Stat struct {
	PID, Parent int
	State       byte
	Started     uint64 // in clock ticks since boot
}

// Read returns the state of a process, or an error that is fs.ErrNotExist or
// ESRCH if there is none.
func Read(pid int) (Stat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	// The second field is the name, in parentheses, and may hold anything.
	i := strings.LastIndexByte(string(b), ')')
	if i < 0 {
		return Stat{}, fmt.Errorf("read /proc/%d/stat: no name", pid)
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 20 {
		return Stat{}, fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(f))
	}
	s := Stat{PID: pid, State: f[0][0]}
	s.Parent, err = strconv.Atoi(f[1])
	if err == nil {
		s.Started, err = strconv.ParseUint(f[19], 10, 64)
	}
	return s, err
}

// Descendants returns the processes below pid, nearest first. It is a snapshot:
// a tree that forks meanwhile may have more.
func Descendants(pid int) []Stat {
	byParent := map[int][]Stat{}
	for _, s := range All() {
		byParent[s.Parent] = append(byParent[s.Parent], s)
	}
	var below []Stat
	for next := byParent[pid]; len(next) > 0; {
		below = append(below, next...)
		var deeper []Stat
		for _, s := range next {
			deeper = append(deeper, byParent[s.PID]...)
		}
		next = deeper
	}
	return below
}

// All returns every process that /proc shows.
func All() []Stat {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	all := make([]Stat, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, err := Read(pid); err == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// Signal sends sig to the process that s describes and to no other: a number
// that has a new owner is left alone.
func Signal(s Stat, sig unix.Signal) error {
	fd, err := unix.PidfdOpen(s.PID, 0)
	if errors.Is(err, unix.ENOSYS) {
		return unix.Kill(s.PID, sig)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, err := Read(s.PID); err != nil || now.Started != s.Started {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// Alive reports whether the process with that start time still runs. A zombie
// does not.
func Alive(pid int, started uint64) bool {
	s, err := Read(pid)
	return err == nil && s.Started == started && s.State != 'Z' && s.State != 'X'
}
