//go:build linux

package sandboxtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Bounds for a file that is none.
const (
	oddTime   = time.Second
	oddMemory = 1 << 20
)

// odd opens and reads what is not a file of a reasonable size. Each answers at
// once and costs nothing.
func (b *bench) odd(t *testing.T) {
	w, dir := b.open(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, row := range []struct {
		name  string
		make  func(string) error
		opens bool // it may be opened; it is not read at once in any case
		want  error
	}{
		{"fifo", func(p string) error { return syscall.Mkfifo(p, 0o644) }, false, fs.ErrInvalid},
		{"zero", func(p string) error { return syscall.Mknod(p, syscall.S_IFCHR|0o666, 1<<8|5) }, false, nil},
		{"disk", func(p string) error { return syscall.Mknod(p, syscall.S_IFBLK|0o666, 7<<8) }, false, nil},
		{"socket", func(p string) error { return syscall.Mknod(p, syscall.S_IFSOCK|0o666, 0) }, false, nil},
		{"environ", func(p string) error { return os.Symlink("/proc/self/environ", p) }, false, nil},
		{"kcore", func(p string) error { return os.Symlink("/proc/kcore", p) }, false, nil},
		{"fd", func(p string) error { return os.Symlink("/proc/self/fd/0", p) }, false, nil},
		{"tofifo", func(p string) error { return os.Symlink("fifo", p) }, false, fs.ErrInvalid},
		{"sparse", func(p string) error {
			return errors.Join(os.WriteFile(p, nil, 0o644), os.Truncate(p, 10<<30))
		}, true, syscall.EFBIG},
		{"directory", func(p string) error { return os.Mkdir(p, 0o755) }, true, syscall.EISDIR},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := row.make(at(row.name)); errors.Is(err, fs.ErrPermission) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			f, opened := w.Open(row.name)
			if opened == nil {
				f.Close()
			}
			_, err := fs.ReadFile(w, row.name)
			took := time.Since(begin)
			runtime.ReadMemStats(&after)
			if row.opens != (opened == nil) {
				t.Errorf("open: %v", opened)
			}
			if err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("read: %v, want %v", err, row.want)
			}
			if got := after.TotalAlloc - before.TotalAlloc; took > oddTime || got > oddMemory {
				t.Errorf("it took %s and %d bytes, more than %s or %d", took, got, oddTime, oddMemory)
			}
			if row.name != "sparse" {
				if err := w.WriteFile(row.name, []byte("x"), 0o644); err == nil {
					t.Error("it was written")
				}
			}
		})
	}
}
