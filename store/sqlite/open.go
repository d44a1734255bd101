package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"harness"
	"harness/internal/flock"
)

// oldest is the first SQLite without the WAL-reset bug that could corrupt a
// database under concurrent checkpoints.
var oldest = [3]int{3, 51, 3}

// claim makes the directory and the empty file with their permissions and takes
// the lock. Whoever holds the lock is the only one to open the file.
func claim(path string) (*flock.Lock, error) {
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	l, err := flock.Take(path + ".lock") // a file of its own: closing the database file would drop SQLite's own locks
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), syncDir(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		l.Release()
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	return l, nil
}

// makeDir makes dir and the directories above it that are missing. Every one it
// made is durable in the one that holds it.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // or something that taking the lock in it will name
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	return syncDir(parent)
}

// syncDir makes a new name in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return fmt.Errorf("sync %s: %w: %w", dir, err, harness.ErrStorage)
	}
	return nil
}

// prepare dials the writing connection, checks that the database is ours,
// readable and can be written, and creates the schema in an empty one. It
// leaves a database that it refuses as it is.
func prepare(path string, cacheKB int) (*conn, error) {
	c, err := dial(path, "busy_timeout=5000")
	if err != nil {
		return nil, err
	}
	for _, step := range []func(*conn) error{checkOurs, settings(cacheKB), checkEngine, checkWritable, checkFormat, makeRules} {
		if err := step(c); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// settings are the writing connection's. Some are written into the file.
func settings(cacheKB int) func(*conn) error {
	return func(c *conn) error {
		return c.pragmas("page_size=8192", "auto_vacuum=INCREMENTAL", "journal_mode=WAL", "synchronous=FULL",
			"fullfsync=ON", "checkpoint_fullfsync=ON", // macOS; no effect elsewhere
			"wal_autocheckpoint=4000", "journal_size_limit=67108864", "temp_store=MEMORY", fmt.Sprintf("cache_size=-%d", cacheKB))
	}
}

func checkEngine(c *conn) error {
	var text, mode string
	err := c.query(func(r []driver.Value) bool { text, _ = r[0].(string); return false }, "SELECT sqlite_version()")
	if err != nil {
		return err
	}
	var have [3]int
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil || slices.Compare(have[:], oldest[:]) < 0 {
		return fmt.Errorf("SQLite %s is older than %v: %w", text, oldest, harness.ErrUnsupported)
	}
	if err := c.query(func(r []driver.Value) bool { mode, _ = r[0].(string); return false }, "PRAGMA journal_mode"); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %s, the file system may not support wal: %w", mode, harness.ErrStorage)
	}
	return nil
}

func checkWritable(c *conn) error { return c.script("BEGIN IMMEDIATE; ROLLBACK") }

// checkOurs refuses a database that something else, or a newer build, made. It
// only reads.
func checkOurs(c *conn) error {
	app, _, err := c.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	version, _, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	have, _, err := c.number("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case app == 0 && version == 0 && have == 0: // empty
		return nil
	case app != applicationID:
		return fmt.Errorf("a database of something else: %w", harness.ErrInvalid)
	case version > format:
		return fmt.Errorf("written in format %d, this build reads up to %d: %w", version, format, harness.ErrUnsupported)
	}
	return nil
}

// checkFormat looks at the schema, or makes it in an empty database. It does
// not look at the data: its cost does not grow with the database.
func checkFormat(c *conn) error {
	var have []string
	err := c.query(func(r []driver.Value) bool {
		name, _ := r[0].(string)
		have = append(have, name)
		return true
	}, "SELECT name FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case len(have) == 0:
		return c.script(fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", schema, applicationID, format))
	}
	for _, name := range objects {
		if !slices.Contains(have, name) {
			return fmt.Errorf("%s is missing from the schema: %w", name, harness.ErrCorrupt)
		}
	}
	_, _, err = c.number("SELECT max(n) FROM sessions")
	return err
}
