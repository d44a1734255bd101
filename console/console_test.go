package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFilesAreKeptByBrowsersForAsLongAsTheyAreTheSame(t *testing.T) {
	t.Parallel()
	h := handler(t, nil)
	app := address(t, h, "app.js")
	first := httptest.NewRecorder()
	r := httptest.NewRequest("GET", app, nil)
	r.Header.Set("Accept-Encoding", "br, gzip")
	h.ServeHTTP(first, r)
	tag := first.Header().Get("ETag")
	if first.Code != 200 || tag == "" || first.Header().Get("Cache-Control") != always || first.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	z, err := gzip.NewReader(first.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(got, h.files[strings.TrimPrefix(app, Prefix)].plain) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r.Header.Set("If-None-Match", tag)
	again := httptest.NewRecorder()
	h.ServeHTTP(again, r)
	if again.Code != 304 || again.Body.Len() > 0 {
		t.Errorf("again: %d with %d bytes", again.Code, again.Body.Len())
	}
	plain := httptest.NewRecorder()
	h.ServeHTTP(plain, httptest.NewRequest("GET", address(t, h, "app.css"), nil))
	if plain.Header().Get("Content-Encoding") != "" || plain.Header().Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("without gzip: %v", plain.Header())
	}
}

func TestEveryAddressOfTheConsoleShowsThePage(t *testing.T) {
	t.Parallel()
	h := handler(t, nil)
	build := path.Dir(address(t, h, "app.js"))
	for path, status := range map[string]int{
		"/": 200, "/inbox": 200, "/s/ses_1/at/7": 200, "/console/start.js": 200, "/console/icon.svg": 200, build + "/card.js": 200,
		build + "/nothing.js": 404, build + "/index.html": 404, build + "/STAMP.json": 404, "/console/index.html": 404, "/console/STAMP.json": 404, "/console/../console.go": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status || (path[1:] == "" || path == "/console/start.js") && w.Header().Get("Cache-Control") != asked {
			t.Errorf("%s: %d %v, want %d", path, w.Code, w.Header(), status)
		}
	}
}

// A tab may be open while the server is replaced: nothing of another build runs
// in it, nor in one that knows of no builds.
func TestAPageGetsNoPartOfAnotherBuild(t *testing.T) {
	t.Parallel()
	before, now := handler(t, nil), handler(t, fstest.MapFS{"dist/card.js": {Data: []byte("export default 1")}})
	parts := []string{"/console/card.js", "/console/app.js"}
	for at := range before.files {
		if !slices.Contains(alone, at) {
			parts = append(parts, Prefix+at)
		}
	}
	for _, part := range parts {
		w := httptest.NewRecorder()
		now.ServeHTTP(w, httptest.NewRequest("GET", part, nil))
		if w.Code != 404 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", part, w.Code, w.Header())
		}
	}
	for _, name := range []string{"app.js", "app.css", "store.js"} {
		w := httptest.NewRecorder()
		now.ServeHTTP(w, httptest.NewRequest("GET", address(t, now, name), nil))
		if w.Code != 200 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// No part names another but by its own place, so that all are of one build.
func TestPartsNameEachOtherByTheirOwnPlace(t *testing.T) {
	t.Parallel()
	h := handler(t, nil)
	for at, f := range h.files {
		if rest := bytes.ReplaceAll(f.plain, []byte("`/console/icon.svg`"), nil); bytes.Contains(rest, []byte("/console/")) {
			t.Errorf("%s names a file of no build", at)
		}
	}
}

// handler serves what is built, with changes.
func handler(t *testing.T, changes fstest.MapFS) *Handler {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := built.ReadDir("dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files["dist/"+e.Name()] = &fstest.MapFile{Data: []byte(readBuilt(t, e.Name()))}
	}
	maps.Copy(files, changes)
	h, err := newHandler(files)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// address is where the page says a file is.
func address(t *testing.T, h *Handler, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(h.page.plain), `="/console/`)
	for ; ok; _, rest, ok = strings.Cut(rest, `="/console/`) {
		if at, _, _ := strings.Cut(rest, `"`); path.Base(at) == name {
			return Prefix + at
		}
	}
	t.Fatalf("the page has no %s:\n%s", name, h.page.plain)
	return ""
}
