package postgrestest

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// schemaName stands in a dump for the schema that it was of.
const schemaName = "the_schema"

// Dump is the schema of a URL as statements that make it again, with what is in
// it, on a server of any version.
func (s *Server) Dump(t testing.TB, address string) string {
	t.Helper()
	c := exec.Command(filepath.Join(s.bin, "pg_dump"), "--inserts", "--no-owner", "--no-privileges", "-n", schemaOf(t, address), "-h", s.dir, "-U", "postgres", "postgres")
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential()}
	c.Dir = s.dir
	out, err := c.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) == "" || aside.MatchString(line) {
			continue
		}
		text.WriteString(line)
	}
	return regexp.MustCompile(`\b`+schemaOf(t, address)+`\.`).ReplaceAllString(text.String(), schemaName+".")
}

// aside is what is about the server or the program that dumped, and not about
// the schema.
var aside = regexp.MustCompile(`^(--|SET |SELECT pg_catalog\.set_config|CREATE SCHEMA |\\)`)

// Restore makes what Dump wrote in the empty schema of a URL.
func (s *Server) Restore(t testing.TB, address, dump string) {
	t.Helper()
	s.Exec(t, address, strings.ReplaceAll(dump, schemaName+".", schemaOf(t, address)+"."))
}

func schemaOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("search_path")
}
