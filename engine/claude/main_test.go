package claude_test

import (
	"os"
	"testing"

	"harness/sandbox"
)

// TestMain is also the sandbox's helper, the stand-in and the recorder: the
// test binary, run by the engine in place of the program.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	switch os.Getenv("HARNESS_TEST_CLAUDE") {
	case "replay":
		os.Exit(replay(os.Getenv("HARNESS_TEST_STORY"), os.Args[1:]))
	case "record":
		os.Exit(record(os.Getenv("HARNESS_TEST_STORY"), os.Args[1], os.Args[2:]))
	case "conform":
		os.Exit(conform())
	case "fault":
		os.Exit(misbehave(os.Getenv("HARNESS_TEST_STORY")))
	}
	os.Exit(m.Run())
}
