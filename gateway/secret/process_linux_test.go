package secret_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"harness/gateway/secret"
)

// TestMain is also the child: a process that was started with a secret.
func TestMain(m *testing.M) {
	if os.Getenv("HARNESS_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	env := secret.Environment{Get: func(n string) string { return os.Getenv("HARNESS_TEST_SECRET") }, Unset: os.Unsetenv}
	err := secret.Erase(env, "HARNESS_TEST_SECRET")
	shown, rerr := os.ReadFile("/proc/self/environ")
	derr := secret.Undumpable()
	_, merr := os.Open("/proc/self/mem")
	status, serr := os.ReadFile("/proc/self/limits")
	core := "limited"
	for line := range bytes.Lines(status) {
		if bytes.HasPrefix(line, []byte("Max core")) && !bytes.Contains(line, []byte(" 0  ")) {
			core = string(line)
		}
	}
	_, set := os.LookupEnv("HARNESS_TEST_SECRET")
	fmt.Printf("%v %v %v %v set=%t core=%s other=%t secret=%t uid0=%t mem=%v\n", err, rerr, derr, serr, set, core,
		bytes.Contains(shown, []byte("HARNESS_TEST_OTHER=stays")), bytes.Contains(shown, []byte("canary-value")), os.Geteuid() == 0, merr != nil)
	os.Exit(0)
}

func TestAChildsEnvironmentIsBlank(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HARNESS_TEST_CHILD=1", "HARNESS_TEST_SECRET=canary-value", "HARNESS_TEST_OTHER=stays")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprintf("<nil> <nil> <nil> <nil> set=false core=limited other=true secret=false uid0=%t mem=%t\n", os.Geteuid() == 0, os.Geteuid() != 0)
	if string(out) != want {
		t.Errorf("got  %swant %s", out, want)
	}
}
