package sqlite_test

import (
	"sync"

	"harness"
)

// dirs remembers where each store of a suite lives, so that it can be reopened.
type dirs struct{ m sync.Map }

func newDirs() *dirs { return new(dirs) }

func (d *dirs) keep(st harness.Store, dir string) harness.Store {
	d.m.Store(st, dir)
	return st
}

func (d *dirs) of(st harness.Store) string {
	dir, _ := d.m.Load(st)
	return dir.(string)
}
