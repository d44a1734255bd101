package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// binary is the real program, built once for all tests that start it: unlike
// build, run keeps what it has linked.
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
	if out, err := exec.Command("go", "run", "-exec", "cp", ".", binary).CombinedOutput(); err != nil {
		os.Stderr.Write(out)
		os.Exit(1)
	}
	if err := os.Setenv("HARNESS_TEST_BINARY", binary); err != nil {
		panic(err)
	}
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // they wait for processes more than they compute
		if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if code == 0 {
		for _, row := range attacked.missing(selected()) {
			os.Stderr.WriteString(row + "\n")
			code = 1
		}
	}
	os.RemoveAll(dir)
	os.Exit(code)
}
