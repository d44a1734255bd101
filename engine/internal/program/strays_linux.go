package program

import (
	"bytes"
	"os"
	"strconv"
)

// tree is the processes below pid, and itself, as far as this machine shows
// them; false if it shows none.
func tree(pid int) (map[int]bool, bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	parent := make(map[int]int)
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if b, err := os.ReadFile("/proc/" + name + "/stat"); err == nil {
			parent[n] = parentOf(b)
		}
	}
	found := map[int]bool{pid: true}
	for n := range parent {
		var path []int
		for up := n; up > 1 && !found[up]; up = parent[up] {
			path = append(path, up)
		}
		if len(path) > 0 && found[parent[path[len(path)-1]]] {
			for _, p := range path {
				found[p] = true
			}
		}
	}
	return found, len(found) > 1
}

// parentOf reads a process's parent from its stat line. A dead one has none.
func parentOf(stat []byte) int {
	_, rest, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
	f := bytes.Fields(rest)
	if len(f) < 2 || string(f[0]) == "Z" {
		return 0
	}
	n, _ := strconv.Atoi(string(f[1]))
	return n
}
