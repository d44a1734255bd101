package workspace

import (
	"runtime"
	"time"
)

// Bounds limit a snapshot. What is over a bound is skipped under the bound's
// name, and the mark is Incomplete; zero values mean the defaults.
type Bounds struct {
	Files     int           // names kept; 200,000: a walk of a second or two
	Bytes     int64         // their content; 2 GB
	FileBytes int64         // of one file, which is read as a whole; 10 MB
	Time      time.Duration // for one snapshot; 10 s: a turn waits for it
	Disk      int64         // of all snapshots of a tree, packed; 4 GB
	Free      int64         // left on the disk for others; 256 MB
	Workers   int           // goroutines that read and pack; 4, or as many as there are processors
}

func (b Bounds) filled() Bounds {
	b.Files = or(b.Files, 200_000)
	b.Bytes = or(b.Bytes, 2<<30)
	b.FileBytes = or(b.FileBytes, 10<<20)
	b.Time = or(b.Time, 10*time.Second)
	b.Disk = or(b.Disk, 4<<30)
	b.Free = or(b.Free, 256<<20)
	b.Workers = or(b.Workers, min(4, runtime.GOMAXPROCS(0)))
	return b
}

func or[T int | int64 | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}
