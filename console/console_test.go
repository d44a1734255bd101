package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"testing"
)

func TestFilesAreKeptByBrowsersAndAskedForEveryTime(t *testing.T) {
	t.Parallel()
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	first := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/console/app.js", nil)
	r.Header.Set("Accept-Encoding", "br, gzip")
	h.ServeHTTP(first, r)
	tag := first.Header().Get("ETag")
	if first.Code != 200 || tag == "" || first.Header().Get("Cache-Control") != "no-cache" || first.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	z, err := gzip.NewReader(first.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(got, h.files["app.js"].plain) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r.Header.Set("If-None-Match", tag)
	again := httptest.NewRecorder()
	h.ServeHTTP(again, r)
	if again.Code != 304 || again.Body.Len() > 0 {
		t.Errorf("again: %d with %d bytes", again.Code, again.Body.Len())
	}
	plain := httptest.NewRecorder()
	h.ServeHTTP(plain, httptest.NewRequest("GET", "/console/app.css", nil))
	if plain.Header().Get("Content-Encoding") != "" || plain.Header().Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("without gzip: %v", plain.Header())
	}
}

func TestEveryAddressOfTheConsoleShowsThePage(t *testing.T) {
	t.Parallel()
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for path, status := range map[string]int{
		"/": 200, "/inbox": 200, "/s/ses_1/at/7": 200, "/console/nothing.js": 404, "/console/index.html": 404, "/console/STAMP.json": 404, "/console/../console.go": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
}
