package health_test

import (
	"testing"

	"harness/health"
)

// One event of a session in which everything happens, under a policy.
func BenchmarkApply(b *testing.B) {
	l := random(b, 7, 10_000)
	f := health.New(nil)
	i := 0
	for b.Loop() {
		f.Apply(l.log[i%len(l.log)])
		i++
	}
}

func BenchmarkScore(b *testing.B) {
	f := random(b, 7, 1000).fold
	for b.Loop() {
		f.Score()
	}
}

func BenchmarkExceeded(b *testing.B) {
	f := random(b, 7, 1000).fold
	for b.Loop() {
		f.Exceeded()
	}
}

func BenchmarkSnapshot(b *testing.B) {
	f := random(b, 7, 1000).fold
	for b.Loop() {
		f.Snapshot().JSON()
	}
}

func BenchmarkStoreAndRead(b *testing.B) {
	f := random(b, 7, 1000).fold
	for b.Loop() {
		if _, err := health.Decode(f.AppendJSON(nil)); err != nil {
			b.Fatal(err)
		}
	}
}
