package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bouncer starts a PgBouncer in session mode before n schemas, and returns the
// URLs by that way. Without the program the test is skipped; in CI it fails.
func (s *Server) Bouncer(t testing.TB, n int) (urls []string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		Unable(t, "no PgBouncer: install the package pgbouncer")
	}
	dir, err := os.MkdirTemp("", "bn") // short: a socket's path has few bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s.Own(t, dir)
	var config strings.Builder
	config.WriteString("[databases]\n")
	for i := range n { // a startup parameter would be refused, and what a connection sets is reset: the schema is a role's
		u, err := url.Parse(s.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		schema := u.Query().Get("search_path")
		s.Exec(t, s.url(""), "CREATE ROLE "+schema+" LOGIN SUPERUSER")
		s.Exec(t, s.url(""), "ALTER ROLE "+schema+" SET search_path = "+schema)
		fmt.Fprintf(&config, "d%d = host=%s port=%d dbname=postgres user=%s\n", i, s.dir, s.port, schema)
		urls = append(urls, fmt.Sprintf("postgres://postgres@/d%d?host=%s&port=6432", i, dir))
	}
	fmt.Fprintf(&config, `[pgbouncer]
pool_mode = session
auth_type = any
listen_addr =
unix_socket_dir = %s
listen_port = 6432
max_client_conn = 200
default_pool_size = 20
logfile = %s
`, dir, filepath.Join(dir, "log"))
	file := filepath.Join(dir, "bouncer.ini")
	if err := os.WriteFile(file, []byte(config.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	stop, err := s.run("/bin/sh", "-c", `"$1" -q "$2" >/dev/null 2>&1 </dev/null & cat >/dev/null; kill -KILL $!; wait`, "sh", program, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for every := time.NewTicker(20 * time.Millisecond); ; {
		c, err := pgx.Connect(ctx, urls[0])
		if err == nil {
			c.Close(ctx)
			return urls
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("PgBouncer does not answer: %v: %s", err, strings.TrimSpace(string(log)))
		}
	}
}
