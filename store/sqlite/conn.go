package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	sqlite "modernc.org/sqlite"
)

// conn is one SQLite connection with its prepared statements. It speaks to the
// driver directly: nothing here needs the pool, the conversions or the
// goroutine per cancellable call of database/sql. One goroutine at a time.
type conn struct {
	driver.Conn
	stmts map[string]*stmt
}

type stmt struct {
	driver.Stmt
	args []driver.NamedValue
	row  []driver.Value
}

func dial(path string, pragmas ...string) (*conn, error) {
	return dialURI(uri(path), pragmas...)
}

// uri names a file to SQLite.
func uri(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

func dialURI(uri string, pragmas ...string) (*conn, error) {
	dc, err := new(sqlite.Driver).Open(uri)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: dc, stmts: map[string]*stmt{}}
	if err := c.pragmas(pragmas...); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) pragmas(settings ...string) error {
	for _, p := range settings {
		if err := c.script("PRAGMA " + p); err != nil {
			return fmt.Errorf("pragma %s: %w", p, err)
		}
	}
	return nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close()
	}
	return c.Conn.Close()
}

// script runs statements that are not worth keeping prepared.
func (c *conn) script(sql string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// prepared returns the statement for sql with its arguments bound: int64,
// string, []byte or nil.
func (c *conn) prepared(sql string, args []driver.Value) (*stmt, error) {
	s, ok := c.stmts[sql]
	if !ok {
		ds, err := c.Conn.Prepare(sql)
		if err != nil {
			return nil, err
		}
		s = &stmt{Stmt: ds}
		c.stmts[sql] = s
	}
	s.args = s.args[:0]
	for i, a := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return s, nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(sql string, args ...driver.Value) (int64, error) {
	s, err := c.prepared(sql, args)
	if err != nil {
		return 0, err
	}
	r, err := s.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query calls row for each result until it returns false. The row belongs to
// the statement; its []byte and string values belong to the callee.
func (c *conn) query(row func([]driver.Value) bool, sql string, args ...driver.Value) error {
	s, err := c.prepared(sql, args)
	if err != nil {
		return err
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		if err = rows.Next(s.row); err != nil || !row(s.row) {
			break
		}
	}
	clear(s.row)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// number returns the integer that a query yields, or ok false for no row.
func (c *conn) number(sql string, args ...driver.Value) (v int64, ok bool, err error) {
	err = c.query(func(r []driver.Value) bool {
		v, ok = whole(r[0]), true
		return false
	}, sql, args...)
	return v, ok, err
}
