package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChildrenInheritNoSecrets: what a server starts has neither the secrets it
// was told nor the token of whoever started it, and nobody can look them up.
func TestChildrenInheritNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keyring, saw := filepath.Join(dir, "keyring"), filepath.Join(dir, "saw")
	if err := os.WriteFile(keyring, []byte("#!/bin/sh\nenv > "+saw+"\necho from-the-keyring\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const token = "hk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
	for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir()}, {"stdio"}} {
		cmd := invocation(t, append(args, "--secret", "command:"+keyring, "--secret", "env:CANARY")...)
		cmd.Env = append(cmd.Env, "CANARY="+canary, "HARNESS_TOKEN="+token, "HARNESS_TOKEN_FILE=/nowhere", "OTHER=stays")
		if args[0] == "stdio" {
			cmd.Stdin = strings.NewReader("")
			if o := finish(t, cmd); o.code != 0 {
				t.Fatalf("%s: %+v", args[0], o)
			}
		} else {
			p := launch(t, cmd)
			shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
			if err == nil && (strings.Contains(string(shown), canary) || strings.Contains(string(shown), token) || !strings.Contains(string(shown), "OTHER=stays")) {
				t.Errorf("the environment shows %q", shown)
			}
			if os.Geteuid() != 0 && err == nil {
				t.Error("others of the same user can read the environment")
			}
			limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
			if err != nil || !strings.Contains(strings.Join(strings.Fields(string(limits)), " "), "Max core file size 0 0") {
				t.Errorf("%s, %v", limits, err)
			}
			p.stop()
		}
		env, err := os.ReadFile(saw)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(env); strings.Contains(text, canary) || strings.Contains(text, "HARNESS_TOKEN") || !strings.Contains(text, "OTHER=stays") {
			t.Errorf("a child of %s saw\n%s", args[0], text)
		}
		os.Remove(saw)
	}
}

// TestASecretOnTheCommandLineIsRefused, and none is repeated.
func TestASecretOnTheCommandLineIsRefused(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"plain-secret-value": "file:PATH", "env:NONE": "there is none", "env:SHORT": "too short", "file:/nowhere/at-all": "no such file",
	} {
		cmd := invocation(t, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--secret", source)
		cmd.Env = append(cmd.Env, "SHORT=abc1234")
		o := finish(t, cmd)
		if o.code != 1 || !strings.HasPrefix(o.stderr, "harness serve: --secret: ") || !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, "plain-secret-value") || strings.Contains(o.stderr, "abc1234") {
			t.Errorf("%s: %+v", source, o)
		}
	}
}
