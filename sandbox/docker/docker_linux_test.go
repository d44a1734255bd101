package docker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/sandbox/docker"
	"harness/sandbox/sandboxtest"
)

// engine returns a podman with a store of its own and an image that holds one
// static program: no registry is asked for anything.
func engine(t testing.TB) []string {
	t.Helper()
	if os.Getenv("LONG") == "" {
		t.Skip("containers take minutes; set LONG=1")
	}
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	podman, err := exec.LookPath("podman")
	if err != nil {
		missing("no podman: %v", err)
	}
	box, err := exec.LookPath("busybox")
	if err != nil {
		missing("no static busybox: %v", err)
	}
	dir := os.Getenv("HARNESS_TEST_ENGINE")
	given := dir != "" // by the test that runs itself again, to be killed
	if !given {
		if dir, err = os.MkdirTemp("", "hp-"); err != nil { // short: engines make sockets below it
			t.Fatal(err)
		}
		t.Setenv("HARNESS_TEST_ENGINE", dir)
	}
	client := []string{podman, "--root", dir + "/root", "--runroot", dir + "/run", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"}
	if _, err := exec.LookPath("runc"); err == nil {
		client = append(client, "--runtime", "runc") // crun takes no mix of cgroup versions
	}
	if given {
		return client
	}
	do := func(args ...string) ([]byte, error) {
		return exec.Command(client[0], append(client[1:len(client):len(client)], args...)...).CombinedOutput()
	}
	t.Cleanup(func() {
		for _, args := range [][]string{{"rm", "-af"}, {"rmi", "-af"}} {
			if out, err := do(args...); err != nil {
				t.Errorf("podman %q: %v\n%s", args, err, out)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	bin := filepath.Join(dir, "image", "bin")
	program, err := os.ReadFile(box)
	if err == nil {
		err = os.MkdirAll(bin, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "busybox"), program, 0o755)
	}
	for _, name := range []string{"sh", "cat", "ls", "grep", "mkdir", "mv", "rm", "true"} {
		if err == nil {
			err = os.Symlink("busybox", filepath.Join(bin, name))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	tar := filepath.Join(dir, "image.tar")
	if out, err := exec.Command("tar", "-C", filepath.Join(dir, "image"), "-cf", tar, ".").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	if out, err := do("import", tar, image); err != nil {
		missing("podman does not work here: %v\n%s", err, out)
	}
	return client
}

const image = "localhost/harness-test"

func TestSandbox(t *testing.T) {
	client := engine(t)
	sandboxtest.Suite{Rounds: 20, Open: func(_ testing.TB, probe string) harness.Sandbox {
		return docker.New(&docker.Options{Command: client, Image: image, Shim: probe})
	}}.Test(t)
}

// containers lists the names of what exists.
func containers(t testing.TB, client []string) string {
	t.Helper()
	out, err := exec.Command(client[0], append(client[1:len(client):len(client)], "ps", "-a", "--format", "{{.Names}}")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// visit opens a workspace and returns what runs "true" in it and says in which
// container.
func visit(t *testing.T, client []string, idle time.Duration) (runTrue func() string) {
	t.Helper()
	s := docker.New(&docker.Options{Command: client, Image: image, Shim: sandboxtest.Probe(t), Idle: idle})
	w, err := s.Open(t.Context(), harness.WorkspaceSpec{Directory: t.TempDir(), Env: []string{"PATH=/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() string {
		t.Helper()
		c, err := w.Start(t.Context(), harness.Process{Args: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := c.Wait(); err != nil || exit.Code != 0 {
			t.Fatalf("true: %+v, %v", exit, err)
		}
		return c.Ref().Handle
	}
}

func TestAContainerIsReusedWhileItIsHealthy(t *testing.T) {
	client := engine(t)
	runTrue := visit(t, client, 0)
	first := runTrue()
	if again := runTrue(); again != first {
		t.Errorf("two containers, %s and %s, for one workspace", first, again)
	}
	if out, err := exec.Command(client[0], append(client[1:len(client):len(client)], "kill", first)...).CombinedOutput(); err != nil {
		t.Fatalf("kill the container: %v\n%s", err, out)
	}
	if second := runTrue(); second == first {
		t.Error("a dead container was used")
	}
}

func TestAContainerIsStoppedWhenIdle(t *testing.T) {
	client := engine(t)
	runTrue := visit(t, client, 500*time.Millisecond)
	first := runTrue()
	deadline := time.Now().Add(30 * time.Second)
	for tick := time.NewTicker(50 * time.Millisecond); containers(t, client) != ""; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("an idle container is still there: %s", containers(t, client))
		}
	}
	if second := runTrue(); second == first {
		t.Error("a stopped container was used")
	}
}

// BenchmarkStart runs "true" in a container that is there, and in one that must
// be made first.
func BenchmarkStart(b *testing.B) {
	client := engine(b)
	s := docker.New(&docker.Options{Command: client, Image: image, Shim: sandboxtest.Probe(b)})
	open := func() harness.Workspace {
		w, err := s.Open(b.Context(), harness.WorkspaceSpec{Directory: b.TempDir(), Env: []string{"PATH=/bin"}})
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	runTrue := func(w harness.Workspace) {
		c, err := w.Start(b.Context(), harness.Process{Args: []string{"true"}})
		if err != nil {
			b.Fatal(err)
		}
		if exit, err := c.Wait(); err != nil || exit.Code != 0 {
			b.Fatalf("%+v, %v", exit, err)
		}
	}
	b.Run("warm", func(b *testing.B) {
		w := open()
		defer w.Close()
		runTrue(w)
		for b.Loop() {
			runTrue(w)
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			w := open()
			runTrue(w)
			w.Close()
		}
	})
}
