package claude_test

import "testing"

// BenchmarkBridge is the real program behind the engine.
func BenchmarkBridge(b *testing.B) { bridge.Measure(b) }

// BenchmarkWarmTurn is a turn of a program that answers at once.
func BenchmarkWarmTurn(b *testing.B) { bridge.MeasureWarm(b) }
