package kernel

import (
	"os"
	"testing"

	"harness"
)

// seeds is how many are played; LONG plays all of them. The race detector sees
// a tenth: a world has one goroutine.
func seeds(short, long int) int {
	switch {
	case os.Getenv("LONG") != "":
		return long
	case race:
		return short / 10
	}
	return short
}

// Random worlds with crashes at random moments keep every promise.
func TestNothingAcknowledgedIsLostInRandomWorlds(t *testing.T) {
	t.Parallel()
	crashes, marks, rewinds := 0, 0, 0
	for seed := range seeds(250, 50_000) {
		w := newWorld(t, uint64(seed))
		for range 250 {
			w.act()
		}
		w.finish()
		crashes += w.crashes
		for _, e := range w.log {
			switch p := e.Payload.(type) {
			case *harness.Rewound:
				rewinds++
			case *harness.SessionCheckpoint:
				if p.Phase == harness.MarkAfter {
					marks++
				}
			}
		}
	}
	t.Logf("%d crashes, %d turns that kept their files, %d rewinds", crashes, marks, rewinds)
	if marks == 0 || rewinds == 0 {
		t.Error("nothing was done about files, so nothing was tested")
	}
}

// A crash at every append boundary, with the commit landed and without, is
// survived by every promise. Most worlds are short: the cost of one is the
// square of its length. With LONG=1 all are long.
func TestCrashAtEveryAppendBoundary(t *testing.T) {
	t.Parallel()
	crashes := 0
	for seed := range seeds(500, 50_000) {
		acts := 70
		if seed%5 != 0 && os.Getenv("LONG") == "" {
			acts = 25
		}
		quiet := newWorld(t, uint64(seed))
		quiet.crashAt = 1 << 30
		for range acts {
			quiet.act()
		}
		for at := 1; at <= quiet.commits; at++ {
			for _, landed := range []bool{false, true} {
				w := newWorld(t, uint64(seed))
				w.crashAt, w.landed = at, landed
				for range acts {
					w.act()
				}
				w.finish()
				crashes += w.crashes
			}
		}
	}
	t.Logf("%d crashes", crashes)
}

// The same seed tells the same story: otherwise a failure could not be
// repeated.
func TestTheWorldRepeatsItself(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(20, 50)) {
		var logs [2]string
		for i := range logs {
			w := newWorld(t, seed)
			for range 200 {
				w.act()
			}
			w.finish()
			for _, e := range w.log {
				logs[i] += string(e.JSON()) + "\n"
			}
		}
		if logs[0] != logs[1] {
			t.Fatalf("seed %d told two stories", seed)
		}
	}
}
