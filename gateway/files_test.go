package gateway_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/gateway"
)

func TestAServerIsFoundWhileItRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := gateway.Discover(dir); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	token, path, err := gateway.FirstToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	withdraw, err := gateway.Announce(dir, "http://127.0.0.1:7717")
	if err != nil {
		t.Fatal(err)
	}
	d, err := gateway.Discover(dir)
	if err != nil || d.URL != "http://127.0.0.1:7717" || d.TokenFile != path || d.PID != os.Getpid() || time.Since(d.Started) > time.Minute {
		t.Errorf("%+v, %v", d, err)
	}
	if got, err := d.Token(); err != nil || got != token {
		t.Errorf("%q, %v", got, err)
	}
	info, _ := os.Stat(filepath.Join(dir, "server.json"))
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if err := withdraw(); err != nil {
		t.Error(err)
	}
	if _, err := gateway.Discover(dir); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("after: %v", err)
	}
}

func TestAStaleDiscoveryIsIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone := exec.Command(os.Args[0], "-test.run=^$") // a process that ends at once
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	write := func(pid int, mode os.FileMode) {
		b, _ := json.Marshal(gateway.Discovery{URL: "http://127.0.0.1:1", PID: pid})
		path := filepath.Join(dir, "server.json")
		os.Remove(path)
		if err := errors.Join(os.WriteFile(path, b, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		write(gone.Process.Pid, 0o600)
		if _, err := gateway.Discover(dir); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("of a process that is gone: %v", err)
		}
		if runtime.GOOS == "linux" { // ended, and nobody has waited for it yet
			zombie := exec.Command(os.Args[0], "-test.run=^$")
			if err := zombie.Start(); err != nil {
				t.Fatal(err)
			}
			defer zombie.Wait()
			write(zombie.Process.Pid, 0o600)
			for end := time.Now().Add(time.Minute); ; {
				_, err := gateway.Discover(dir)
				if errors.Is(err, harness.ErrNotFound) {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("of a process that nobody waits for: %v", err)
				}
			}
		}
		write(os.Getpid(), 0o666)
		if _, err := gateway.Discover(dir); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("that anybody could have written: %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "server.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Join(dir, "server.json"), 0o600)
	if _, err := gateway.Discover(dir); !errors.Is(err, harness.ErrCorrupt) {
		t.Errorf("that is torn: %v", err)
	}
	// One that another server has written since is not ours to remove.
	withdraw, err := gateway.Announce(dir, "http://127.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	write(os.Getpid(), 0o600)
	if err := withdraw(); err != nil {
		t.Error(err)
	}
	if d, err := gateway.Discover(dir); err != nil || d.URL != "http://127.0.0.1:1" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestALogIsRotatedBySize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	l, err := gateway.OpenSmallLogFile(path, 100, 2)
	if err != nil {
		t.Fatal(err)
	}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return -1
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
		return info.Size()
	}
	write := func(n int) {
		if _, err := l.Write([]byte(strings.Repeat("x", n-1) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		write          int
		want, one, two int64
	}{
		{60, 60, -1, -1}, {40, 100, -1, -1}, {1, 1, 100, -1}, {99, 100, 100, -1}, {300, 300, 100, 100}, {1, 1, 300, 100}, {100, 100, 1, 300},
	} {
		write(step.write)
		if a, b, c := size("audit.log"), size("audit.log.1"), size("audit.log.2"); a != step.want || b != step.one || c != step.two || size("audit.log.3") >= 0 {
			t.Errorf("after %d more: %d, %d, %d, want %+v", step.write, a, b, c, step)
		}
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if _, err := l.Write([]byte("x")); err == nil {
		t.Error("written after its end")
	}
	again, err := gateway.OpenSmallLogFile(path, 100, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Write([]byte("y"))
	if a := size("audit.log"); a != 1 {
		t.Errorf("after opening again: %d", a)
	}
}

func TestNoLineIsLostInRotation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access.log")
	l, err := gateway.OpenSmallLogFile(path, 5000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	audit := gateway.AuditTo(slog.New(slog.NewJSONHandler(l, nil)), nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 100 {
				audit.Put(gateway.Record{Caller: alice, Action: gateway.Answer, Session: "ses_1\n{}", Detail: fmt.Sprint("allow ", i)})
			}
		})
	}
	all.Wait()
	names, _ := filepath.Glob(path + "*")
	lines := 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var m struct {
				Record map[string]string `json:"record"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Record["caller"] != alice.Name || m.Record["action"] != "answer" || m.Record["result"] != "ok" || m.Record["session"] != `ses_1\u{a}{}` {
				t.Fatalf("%q: %v", line, err)
			}
			lines++
		}
	}
	if lines != 400 || len(names) < 5 {
		t.Errorf("%d lines in %d files", lines, len(names))
	}
}

// pair writes a certificate for localhost with a serial number.
func pair(t testing.TB, dir string, serial int64) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	kder, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := errors.Join(
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: kder}), 0o600)); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func TestACertificateIsReloaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock jumps over the time between two looks
		dir := t.TempDir()
		cert, key := pair(t, dir, 1)
		c, err := gateway.OpenCertificate(cert, key, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		serial := func() int64 {
			got, err := c.Config().GetCertificate(&tls.ClientHelloInfo{})
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(got.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			return leaf.SerialNumber.Int64()
		}
		pair(t, dir, 2)
		if serial() != 1 {
			t.Error("looked at once")
		}
		time.Sleep(10 * time.Second) // sleep: the bubble's clock is what is tested
		if serial() != 2 {
			t.Error("not reloaded")
		}
		if err := os.WriteFile(cert, []byte("torn"), 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // sleep: as above
		if serial() != 2 {
			t.Error("a torn file threw the certificate out")
		}
		pair(t, dir, 3)
		time.Sleep(10 * time.Second) // sleep: as above
		if serial() != 3 {
			t.Error("not reloaded after a torn file")
		}
		if runtime.GOOS != "windows" {
			if err := os.Chmod(key, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := gateway.OpenCertificate(cert, key, slog.New(slog.DiscardHandler)); err == nil {
				t.Error("a key that everybody can read")
			}
		}
	})
}

func TestAMeterIsExact(t *testing.T) {
	t.Parallel()
	m := gateway.NewMeter(3, time.Second)
	now := time.Unix(1000, 0)
	for i, want := range []bool{true, true, true, false, false} {
		if got := m.Take(now, "a"); got != want {
			t.Errorf("%d at once: %t", i+1, got)
		}
	}
	if !m.Take(now, "b") {
		t.Error("another party is slowed down")
	}
	if m.Take(now.Add(time.Second-1), "a") {
		t.Error("one more too early")
	}
	if wait := m.Wait(now, "a"); wait != time.Second {
		t.Errorf("wait %s", wait)
	}
	if !m.Take(now.Add(time.Second), "a") || m.Take(now.Add(time.Second), "a") {
		t.Error("one more after its time")
	}
	for i, want := range []bool{true, true, true, false} {
		if got := m.Take(now.Add(time.Hour), "a"); got != want {
			t.Errorf("%d after an hour: %t", i+1, got)
		}
	}
	for addr, want := range map[string]string{
		"1.2.3.4:5": "1.2.3.4", "[::ffff:1.2.3.4]:5": "1.2.3.4", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::9]:1": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64", "odd": "odd",
	} {
		if got := gateway.Party(addr); got != want {
			t.Errorf("%s counts as %s", addr, got)
		}
	}
}
