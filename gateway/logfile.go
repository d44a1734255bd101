package gateway

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Bounds of a log on disk.
const (
	maxLogFile = 16 << 20
	keepLogs   = 4 // besides the one that is written
)

// LogFile is a file of lines that is put aside when it is full: NAME, NAME.1,
// NAME.2 … Only this user can read them. Write may be called concurrently; each
// call is whole lines, and stays in one file.
type LogFile struct {
	path string
	max  int64
	keep int

	mu   sync.Mutex // guards what follows, and the files
	file *os.File
	size int64
}

// OpenLogFile goes on with a file, or begins one.
func OpenLogFile(path string) (*LogFile, error) {
	l := &LogFile{path: path, max: maxLogFile, keep: keepLogs}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *LogFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", l.path)
	}
	if err == nil {
		err = f.Chmod(0o600) // it may be older than we are
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write adds lines. If the file cannot be put aside it goes on in it: a line
// too many is better than one that is lost.
func (l *LogFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, fs.ErrClosed
	}
	if l.size > 0 && l.size+int64(len(b)) > l.max {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return n, err
}

// rotate puts the file aside and begins the next.
func (l *LogFile) rotate() error {
	name := func(i int) string {
		if i == 0 {
			return l.path
		}
		return fmt.Sprintf("%s.%d", l.path, i)
	}
	for i := l.keep; i > 0; i-- {
		if err := os.Rename(name(i-1), name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.size = 0 // try again when it has grown as much again
			return nil
		}
	}
	old := l.file
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

// Close ends it.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
