// Package model is what an agent loop knows of language models: one Client that
// takes a whole conversation and streams one answer, and what goes with it:
// faults as a closed set, usage and prices, retries, fallback.
//
// It guarantees that what a Client yields is well formed: blocks in order, a
// call that began ends whole or not at all, one stop at the end or one error.
// It does not run tools, keep conversations or read the environment. Whatever
// talks to a server lives in a folder below; modeltest is what all of them pass.
package model
