package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the real program, built once for all tests that start it.
var binary string

func TestMain(m *testing.M) {
	if binary = os.Getenv("HARNESS_TEST_BINARY"); binary != "" { // a test that runs itself again
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "harness-test")
	if err != nil {
		panic(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // some tests run it as another user
		panic(err)
	}
	binary = filepath.Join(dir, "harness")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		os.Stderr.Write(out)
		os.Exit(1)
	}
	if err := os.Setenv("HARNESS_TEST_BINARY", binary); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
