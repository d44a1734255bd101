package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheCommittedPageIsBuiltFromTheseSources needs no Node: whoever changes a
// source and does not build is told.
func TestTheCommittedPageIsBuiltFromTheseSources(t *testing.T) {
	t.Parallel()
	files := []string{"index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.mjs"}
	for _, root := range []string{"src", "public", "build", "../client/ts/src"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	all := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(all, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	var stamp struct{ Sources string }
	text, err := built.ReadFile("dist/STAMP.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &stamp); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(all.Sum(nil)); got != stamp.Sources {
		t.Errorf("dist was built from other sources: run make console (sources %s, stamp %s)", got, stamp.Sources)
	}
}

// Budgets of a first load, in bytes after gzip.
const (
	maxFirstScript = 130_000
	maxStyle       = 12_000
	maxChat        = 95_000 // the assistant-ui view, loaded when it is opened
)

// staticImport finds what a module loads before it runs.
var staticImport = regexp.MustCompile(`(?:^|[;}\s])(?:import|export)\s*(?:[\w*${},\s]*?from)?\s*["']\./([^"']+)["']`)

func TestAFirstLoadIsSmall(t *testing.T) {
	t.Parallel()
	first := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if first[name] {
			return
		}
		first[name] = true
		for _, m := range staticImport.FindAllStringSubmatch(readBuilt(t, name), -1) {
			visit(m[1])
		}
	}
	page := readBuilt(t, "index.html")
	for _, m := range regexp.MustCompile(`(?:src|href)="/console/([^"]+\.js)"`).FindAllStringSubmatch(page, -1) {
		visit(m[1])
	}
	if !first["app.js"] {
		t.Fatalf("the page does not load app.js:\n%s", page)
	}
	var total int
	for name := range first {
		n := packed(t, readBuilt(t, name))
		t.Logf("%s %d bytes packed", name, n)
		total += n
	}
	if total > maxFirstScript {
		t.Errorf("a first load has %d bytes of script, packed; %d are allowed", total, maxFirstScript)
	}
	if n := packed(t, readBuilt(t, "app.css")); n > maxStyle {
		t.Errorf("app.css has %d bytes, packed; %d are allowed", n, maxStyle)
	}
	t.Logf("first load: %d bytes of script", total)
	chat := 0
	for _, name := range []string{"chat.js"} {
		if _, err := fs.Stat(built, "dist/"+name); err == nil {
			chat += packed(t, readBuilt(t, name))
		}
	}
	if chat > maxChat {
		t.Errorf("the assistant-ui view has %d bytes of script, packed; %d are allowed", chat, maxChat)
	}
}

// TestThePageKeepsToThePolicy: no script or style stands in the page itself, so
// that the server's content policy can forbid all of them.
func TestThePageKeepsToThePolicy(t *testing.T) {
	t.Parallel()
	page := readBuilt(t, "index.html")
	for _, wrong := range []string{"<style", "style=", "onload=", "http://", "https://"} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page has %s:\n%s", wrong, page)
		}
	}
	for _, script := range regexp.MustCompile(`<script[^>]*>[^<]*`).FindAllString(page, -1) {
		if !regexp.MustCompile(`^<script (type="module" crossorigin )?src="/console/\w+\.js">$`).MatchString(script) {
			t.Errorf("the page has a script of its own: %s", script)
		}
	}
}

func readBuilt(t *testing.T, name string) string {
	t.Helper()
	b, err := built.ReadFile("dist/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func packed(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
