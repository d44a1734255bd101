// Package postgrestest starts a real PostgreSQL for tests: from the binaries of
// the system, in a private data directory, on a Unix socket in it, for whoever
// runs the test and nobody else.
//
// A server ends with the test binary, however that ends: it has a guard that
// waits for the end of a pipe.
package postgrestest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a PostgreSQL that flushes what it acknowledges.
type Server struct {
	dir     string // data and socket
	bin     string
	args    []string
	port    int       // of the socket's name, and of TCP if it listens there
	guard   io.Closer // ends the server
	schemas atomic.Int64
}

// patience is how long a server may take to start or to stop.
const patience = 30 * time.Second

// shared is the server that all tests of a binary use.
var shared = sync.OnceValues(func() (*Server, error) { return launch(true, "") })

// Start returns the one server of this test binary. Without the binaries the
// test is skipped; under CI it fails.
func Start(t testing.TB) *Server {
	t.Helper()
	need(t)
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// StartAlone returns a server for this test, which may kill it; args are further
// ones of the command line. Its data is in memory if there is room: a server that
// is killed loses nothing that it gave to the kernel, and a busy disk takes
// seconds for its recovery.
func StartAlone(t testing.TB, args ...string) *Server {
	t.Helper()
	const memory = "/dev/shm"
	var free syscall.Statfs_t
	if err := syscall.Statfs(memory, &free); err != nil || free.Bavail*uint64(free.Bsize) < 512<<20 {
		return StartIn(t, "", args...)
	}
	return StartIn(t, memory, args...)
}

// StartIn is StartAlone with the data below a directory; "" is the usual one.
func StartIn(t testing.TB, base string, args ...string) *Server {
	t.Helper()
	need(t)
	s, err := launch(false, base, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill(t)
		if err := os.RemoveAll(s.dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

// need skips a test that has no PostgreSQL to use.
func need(t testing.TB) {
	t.Helper()
	if binaries() == "" {
		Unable(t, "no PostgreSQL: install the package postgresql")
	}
}

// Unable skips a test that lacks its real part; in CI it fails.
func Unable(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// binaries is where the newest server is, or empty.
func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return ""
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
}

// fresh is a data directory that no server has run on, which all are copies of:
// making one takes longer than all else. Its guard removes it.
var fresh = sync.OnceValues(func() (*Server, error) {
	s, err := place("")
	if err != nil {
		return nil, err
	}
	if s.guard, err = s.run("/bin/sh", "-c", `cat >/dev/null; rm -rf "$1"`, "sh", s.dir); err != nil {
		return nil, err
	}
	return s, s.do(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
})

// place makes a directory for a server below base.
func place(base string) (*Server, error) {
	dir, err := os.MkdirTemp(base, "pg") // short: a socket's path has few bytes
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: binaries(), port: 5432}
	if who := s.credential(); who != nil {
		err = os.Chown(dir, int(who.Uid), int(who.Gid))
	}
	return s, err
}

// launch makes a data directory and starts a server on it. If it sweeps, the
// guard removes the directory.
func launch(sweep bool, base string, args ...string) (*Server, error) {
	from, err := fresh()
	if err != nil {
		return nil, err
	}
	s, err := place(base)
	if err != nil {
		return nil, err
	}
	s.args = args
	if err = s.do("cp", "-R", from.data(), s.data()); err == nil {
		err = s.start(sweep)
	}
	if err != nil {
		os.RemoveAll(s.dir)
	}
	return s, err
}

// do runs a program as the server's user, to its end.
func (s *Server) do(name string, args ...string) error {
	c := exec.Command(name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential()}
	c.Dir = s.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// run starts a program as the server's user, in a process group of its own, so
// that what ends the test does not end it; what is returned ends its standard
// input, and so does the end of this process.
func (s *Server) run(name string, args ...string) (io.Closer, error) {
	c := exec.Command(name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential(), Setpgid: true}
	c.Dir = s.dir
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	return in, c.Start()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// credential is whom the server runs as: it refuses to be root.
func (s *Server) credential() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// guarding runs a server until its standard input ends.
const guarding = `dir=$1 sweep=$2; shift 2
"$@" >>"$dir/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT $server 2>/dev/null
wait $server
[ "$sweep" = true ] && rm -rf "$dir"
exit 0`

// start runs a server on the data and waits until it answers.
func (s *Server) start(sweep bool) error {
	args := []string{"-c", guarding, "sh", s.dir, strconv.FormatBool(sweep), filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir,
		"-p", strconv.Itoa(s.port), "-c", "listen_addresses=", "-c", "max_connections=300"}
	guard, err := s.run("/bin/sh", append(args, s.args...)...)
	if err != nil {
		return err
	}
	s.guard = guard
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for every := time.NewTicker(20 * time.Millisecond); ; {
		c, err := pgx.Connect(ctx, s.url(""))
		if err == nil {
			every.Stop()
			return c.Close(ctx)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server does not answer: %w: %s", err, log)
		}
	}
}

func (s *Server) url(schema string) string {
	url := fmt.Sprintf("postgres://postgres@/postgres?host=%s&port=%d", s.dir, s.port)
	if schema != "" {
		url += "&search_path=" + schema
	}
	return url
}

// Own gives a file to whom the server runs as.
func (s *Server) Own(t testing.TB, path string) {
	t.Helper()
	if who := s.credential(); who != nil {
		if err := os.Chown(path, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// Dir is where the server's files are.
func (s *Server) Dir() string { return s.dir }

// Socket is the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, fmt.Sprintf(".s.PGSQL.%d", s.port)) }

// URL names an empty schema that nobody else uses.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	schema := fmt.Sprintf("t%d", s.schemas.Add(1))
	s.Exec(t, s.url(""), "CREATE SCHEMA "+schema)
	return s.url(schema)
}

// Exec runs a statement where url says.
func (s *Server) Exec(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
