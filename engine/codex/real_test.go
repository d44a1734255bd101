package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/codex"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
	"harness/model/modeltest"
)

// version is the one that the recordings are of.
const version = "0.166.0"

// real finds the program that make bench installs, in the version of its lock
// file, or one of an earlier run in the user's cache. A test that needs it is
// skipped where it is missing, and fails there if HARNESS_REAL_AGENTS=1.
func real(tb testing.TB) string {
	tb.Helper()
	places := []string{"../../bench/testdata/node"}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "harness-test", "codex-"+version))
	}
	for _, dir := range places {
		found, err := filepath.Glob(filepath.Join(dir, "node_modules/@openai/codex-*/vendor/*/bin/codex"))
		if err != nil {
			tb.Fatal(err)
		}
		if len(found) > 0 {
			path, err := filepath.Abs(found[0])
			if err != nil {
				tb.Fatal(err)
			}
			return path
		}
	}
	if os.Getenv("HARNESS_REAL_AGENTS") == "1" {
		tb.Fatalf("codex %s is not installed: npm ci --ignore-scripts --prefix bench/testdata/node", version)
	}
	tb.Skipf("codex %s is not installed: npm ci --ignore-scripts --prefix bench/testdata/node", version)
	return ""
}

// scripted are the settings that make a server at url the program's model.
func scripted(url string) []string {
	return []string{
		`model="mock-model"`, `chatgpt_base_url="http://127.0.0.1:9/backend-api/"`, `model_provider="scripted"`,
		`model_providers.scripted={name="scripted",base_url="` + url + `/v1",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
	}
}

// opener makes engines of the given program.
func opener(o codex.Options) func(program.Options) bridgetest.Engine {
	return func(p program.Options) bridgetest.Engine {
		o.Base = p
		return codex.New(o)
	}
}

// realStage is a stage with a model of its own behind the program.
func realStage(tb testing.TB, opts program.Options, script string, command ...string) *bridgetest.Stage {
	tb.Helper()
	dir := tb.TempDir()
	m := modeltest.Serve(tb, strings.ReplaceAll(script, "$WORK", dir))
	s := bridgetest.Open(tb, dir, opts, opener(codex.Options{Program: command, Config: scripted(m.URL)}))
	s.Model = m
	return s
}
