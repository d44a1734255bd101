package acp_test

import (
	"os"
	"testing"

	"harness/engine/internal/bridgetest"
	"harness/sandbox"
)

// TestMain is also the sandbox's helper, the stand-in and the recorder: the
// test binary, run by the engine in place of the program.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	story, dir := os.Getenv("HARNESS_TEST_STORY"), os.Getenv("HARNESS_TEST_DIR")
	switch os.Getenv("HARNESS_TEST_ROLE") {
	case "replay":
		os.Exit(bridge.Dialect.Replay(story, dir, os.Stdin, os.Stdout, os.Stderr, os.Args[1:]...))
	case "record":
		os.Exit(bridge.Dialect.Record(dir, os.Stdin, os.Stdout, os.Stderr, os.Args[1], os.Args[2:]...))
	case "peer":
		os.Exit(serveSDK(story))
	case "tap":
		os.Exit(bridgetest.Tap(dir, os.Stdin, os.Stdout, os.Stderr, os.Args[1:], os.Environ()))
	case "only":
		os.Exit(bridgetest.Only(dir, os.Args[1:], os.Environ()))
	case "conform", "fault":
		os.Exit(perform(story))
	}
	os.Exit(m.Run())
}
