//go:build linux

package sandboxtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// nobody is a user without any rights.
const nobody = 65534

// AsNobody runs a test of the calling package again as an ordinary user. It
// needs root, who alone can become somebody else.
func AsNobody(t *testing.T, test string) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	dir, err := os.MkdirTemp("", "hn-") // unlike t.TempDir, everybody's
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	probe := filepath.Join(dir, "probe")
	b, err := os.ReadFile(Probe(t))
	if err == nil {
		err = os.WriteFile(probe, b, 0o755)
	}
	temp := filepath.Join(dir, "tmp")
	if err == nil {
		err = os.Mkdir(temp, 0o755)
	}
	if err == nil {
		err = os.Chown(temp, nobody, nobody)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+test+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{path, "HARNESS_TEST_PROBE=" + probe, "TMPDIR=" + temp, "HOME=" + temp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+test)) {
		passed := regexp.MustCompile(`(?m)^( *--- (PASS|SKIP)|=== ).*\n`)
		t.Errorf("as user %d: %v\n%s", nobody, err, passed.ReplaceAll(out, nil))
	}
}
