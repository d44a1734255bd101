package browsertest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Rival serves bench/page.tsx of the client, in the folder client: assistant-ui's
// own runtime and components, as bare as they can be. It returns the address,
// and the folder that is served, for whatever the page is to read.
func Rival(tb testing.TB, client string) (url, dir string) {
	tb.Helper()
	dir = tb.TempDir()
	build := exec.Command("node", "node_modules/esbuild/bin/esbuild", "bench/page.tsx", "--bundle", "--minify", "--format=esm", "--target=es2022", "--jsx=automatic",
		`--define:process.env.NODE_ENV="production"`, "--log-level=warning", "--outfile="+filepath.Join(dir, "page.js"))
	build.Dir = client
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("run make deps: %v\n%s", err, out)
	}
	html := `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="app"></div><script type="module" src="page.js"></script>`
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(html), 0o644); err != nil {
		tb.Fatal(err)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	tb.Cleanup(files.Close)
	return files.URL, dir
}
