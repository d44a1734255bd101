// Package console is the web console: a page that is built from src by Vite and
// committed in dist, so that no Node is needed to build the server.
//
// [Handler] serves the page for each of the console's addresses and its files
// under /console/BUILD/, where BUILD is a digest of them all: browsers keep them
// and need not ask, and a page that is older than the server gets no part of
// another build, which would not fit. It says nothing about who may have them:
// whoever mounts it does.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed all:dist
var built embed.FS

// Prefix is where the files of the page lie.
const Prefix = "/console/"

// Pages are the patterns of addresses that show the page, which finds out by
// itself what to show there.
func Pages() []string {
	return []string{"GET /{$}", "GET /inbox", "GET /cockpit", "GET /settings", "GET /settings/{section}", "GET /s/{id}", "GET /s/{id}/{view...}", "GET /chat/{id}"}
}

// Files is the pattern of the page's files.
const Files = "GET " + Prefix + "{file...}"

// file is one of the page's, as it goes over the wire.
type file struct {
	kind, tag     string
	kept          string // how long
	plain, packed []byte // packed is empty where it would save nothing
}

// Handler serves the page. It is safe for concurrent use.
type Handler struct {
	files map[string]file // by their addresses below Prefix
	page  file
}

// How long browsers keep a file. One that is named after its build is always
// the same; the others must be asked for.
const (
	always = "max-age=31536000, immutable"
	asked  = "no-cache"
)

// alone are the files that fit every build: start.js is there when no other can
// be had.
var alone = []string{"start.js", "icon.svg"}

// named finds the files that a page names.
var named = regexp.MustCompile(`"/console/([\w-]+\.\w+)"`)

// New reads what is embedded.
func New() (*Handler, error) { return newHandler(built) }

func newHandler(from fs.FS) (*Handler, error) {
	h, contents, all := &Handler{files: map[string]file{}}, map[string][]byte{}, sha256.New()
	err := fs.WalkDir(from, "dist", func(name string, d fs.DirEntry, err error) error { // in order
		if err != nil || d.IsDir() || path.Base(name) == "STAMP.json" {
			return err
		}
		content, err := fs.ReadFile(from, name)
		contents[strings.TrimPrefix(name, "dist/")] = content
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(content), name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	page, ok := contents["index.html"]
	if !ok {
		return nil, fmt.Errorf("console: it was not built: run make console")
	}
	delete(contents, "index.html")
	build := hex.EncodeToString(all.Sum(nil)[:8])
	for name, content := range contents {
		at, kept := build+"/"+name, always
		if slices.Contains(alone, name) {
			at, kept = name, asked
		}
		if h.files[at], err = newFile(name, content, kept); err != nil {
			return nil, fmt.Errorf("console: %s: %w", name, err)
		}
	}
	page = named.ReplaceAllFunc(page, func(address []byte) []byte {
		name := named.FindSubmatch(address)[1]
		if slices.Contains(alone, string(name)) {
			return address
		}
		return fmt.Appendf(nil, "%q", Prefix+build+"/"+string(name))
	})
	if h.page, err = newFile("index.html", page, asked); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return h, nil
}

func newFile(name string, content []byte, kept string) (file, error) {
	sum := sha256.Sum256(content)
	f := file{kind: mime.TypeByExtension(path.Ext(name)), tag: hex.EncodeToString(sum[:16]), kept: kept, plain: content}
	if f.kind == "" {
		f.kind = "application/octet-stream"
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return f, err
	}
	if _, err := z.Write(content); err != nil {
		return f, err
	}
	if err := z.Close(); err != nil {
		return f, err
	}
	if b.Len() < len(content) {
		f.packed = b.Bytes()
	}
	return f, nil
}

// ServeHTTP answers with a file of the page, or with the page itself for every
// address that is none of a file's.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := h.page
	if name, ok := strings.CutPrefix(r.URL.Path, Prefix); ok {
		if f, ok = h.files[name]; !ok {
			w.Header().Set("Cache-Control", "no-store") // another server may have it
			http.NotFound(w, r)
			return
		}
	}
	f.serve(w, r)
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	head, body, tag := w.Header(), f.plain, `"`+f.tag+`"`
	head.Set("Content-Type", f.kind)
	head.Set("Cache-Control", f.kept)
	head.Set("Vary", "Accept-Encoding")
	if len(f.packed) > 0 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		head.Set("Content-Encoding", "gzip")
		body, tag = f.packed, `"`+f.tag+`-gz"`
	}
	head.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a browser that is gone needs none
	}
}
