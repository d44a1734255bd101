package acp_test

import "testing"

// BenchmarkBridge is the real program behind the engine.
func BenchmarkBridge(b *testing.B) { bridge.Measure(b) }

// BenchmarkOwn is an agent that says a piece at once.
func BenchmarkOwn(b *testing.B) { bridge.MeasureOwn(b) }

// TestEveryPieceIsSeenOnItsWay is what the benchmarks rely on.
func TestEveryPieceIsSeenOnItsWay(t *testing.T) {
	t.Parallel()
	bridge.Watched(t)
}
