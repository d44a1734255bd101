package health_test

import (
	"testing"

	"harness"
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

// Streamed text, which is most of any log.
func BenchmarkApplyText(b *testing.B) {
	l := newTeller(b, &harness.HealthPolicy{TotalTokens: new(int64(1000)), RuntimeMinutes: new(60.0)})
	l.begin()
	l.tell(&harness.Token{Text: "some words "})
	e := l.log[len(l.log)-1]
	for b.Loop() {
		l.fold.Apply(e)
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
