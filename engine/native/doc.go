// Package native is the engine that owns its loop: it asks a model, runs the
// tools that the model asks for, and reports every step.
//
// It guarantees:
//
//   - What a model is told is a function of the session's log, so a turn goes on
//     after a crash where it stopped. Only thoughts that a provider signed are
//     kept besides, in memory and until the turn ends.
//   - A call is durable before it runs, and runs at most once. One that a crash
//     left open is never run again; the model is told that it may have happened.
//   - Nothing runs that [harness.Host] did not allow with the very arguments it
//     runs with.
//   - Equal logs make equal requests, byte for byte, and a longer log only adds
//     at the end, until the context is compacted: providers cache prefixes.
//   - When Run returns, no process and no goroutine of the turn is left, but for
//     those that the model asked to keep in the background. Those live in the
//     session's workspace, which closes after a while without turns.
//
// How faults of a provider end, after whatever the client itself does about them:
//
//	rate limited, overloaded, server error, cut off, timed out, unreachable
//	                      an error that wraps harness.ErrRetry; text that was shown stays
//	context too long      the context is compacted and the model asked again, once
//	not authorised, bad request, refused
//	                      an error that is final
//
// It does not read the environment, keep keys or choose models: its client does.
package native
