//go:build unix

package workspace_test

import (
	"testing"
	"time"

	"harness/workspace"
)

const benchFiles = 10_000

// perCall reports processor time, all threads and children, per iteration.
func perCall(b *testing.B, work func()) {
	b.ReportAllocs()
	var sum time.Duration
	for b.Loop() {
		before := cpu(b)
		work()
		sum += cpu(b) - before
	}
	b.ReportMetric(float64(sum.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func BenchmarkFirst(b *testing.B) {
	dir := b.TempDir()
	source(b, dir, benchFiles)
	perCall(b, func() {
		b.StopTimer()
		tree := openAt(b, b.TempDir(), dir, nil)
		b.StartTimer()
		take(b, tree, workspace.Before)
	})
}

func BenchmarkUnchanged(b *testing.B) {
	tree, dir := open(b, nil)
	source(b, dir, benchFiles)
	waitTick(b, dir)
	take(b, tree, workspace.Before)
	perCall(b, func() { take(b, tree, workspace.Before) })
}

func BenchmarkRestore(b *testing.B) {
	tree, dir := open(b, nil)
	source(b, dir, benchFiles)
	waitTick(b, dir)
	first := take(b, tree, workspace.Before)
	edit(b, dir, 100, benchFiles, 1)
	second := take(b, tree, workspace.After)
	perCall(b, func() {
		rewind(b, tree, first, false)
		first, second = second, first
	})
}
