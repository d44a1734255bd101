//go:build unix

package folder

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Folder is an open directory.
type Folder struct{ fd int }

// Open opens the directory at path, which is trusted: links in it are followed.
func Open(path string) (*Folder, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Folder{fd}, nil
}

// Close closes the folder; the folders opened from it stay open.
func (f *Folder) Close() error { return unix.Close(f.fd) }

// Open opens the directory of that name.
func (f *Folder) Open(name string) (*Folder, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	return &Folder{fd}, nil
}

// Self describes the folder.
func (f *Folder) Self() (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

// Names returns the names in the folder, in no order, and stops soon after
// limit of them. It may be called once. buf is scratch space.
func (f *Folder) Names(buf []byte, limit int) ([]string, error) {
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(f.fd, buf) })
		if err != nil || n <= 0 || len(names) > limit {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// Stat describes name.
func (f *Folder) Stat(name string) (Stat, error) {
	if err := CheckName(name); err != nil {
		return Stat{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

// Read opens the regular file of that name for reading and describes what it
// opened. It never waits for the other end of a pipe.
func (f *Folder) Read(name string) (*os.File, Stat, error) {
	if err := CheckName(name); err != nil {
		return nil, Stat{}, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, Stat{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, Stat{}, err
	}
	s := statOf(&st)
	if s.Kind != File {
		unix.Close(fd)
		return nil, Stat{}, fmt.Errorf("not a regular file: %w", unix.ELOOP)
	}
	return os.NewFile(uintptr(fd), name), s, nil
}

// ReadFull fills data from the regular file of that name and reports how many
// bytes it has, up to len(data), and what the file was before and after.
// It takes a name that Stat took.
func (f *Folder) ReadFull(name string, data []byte) (n int, before, after Stat, err error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return 0, before, after, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, before, after, err
	}
	if before = statOf(&st); before.Kind != File {
		return 0, before, after, unix.ELOOP
	}
	for n < len(data) {
		m, err := retry(func() (int, error) { return unix.Read(fd, data[n:]) })
		if err != nil {
			return n, before, after, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return n, before, after, err
	}
	return n, before, statOf(&st), nil
}

// Readlink returns where the link of that name points.
func (f *Folder) Readlink(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	buf := make([]byte, unix.PathMax+1)
	n, err := unix.Readlinkat(f.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// Create makes a file that was not there, writes data and sets mode.
func (f *Folder) Create(name string, data []byte, mode uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return err
	}
	if err = fill(fd, data); err == nil {
		err = unix.Fchmod(fd, mode&0o7777)
	}
	if closed := unix.Close(fd); err == nil {
		err = closed
	}
	if err != nil {
		unix.Unlinkat(f.fd, name, 0)
	}
	return err
}

// fill writes all of data.
func fill(fd int, data []byte) error {
	for n := 0; n < len(data); {
		m, err := retry(func() (int, error) { return unix.Write(fd, data[n:]) })
		if err != nil {
			return err
		}
		n += m
	}
	return nil
}

// Symlink makes a link that was not there.
func (f *Folder) Symlink(target, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return unix.Symlinkat(target, f.fd, name)
}

// Move gives what is called name in from the name to in f, in place of what has
// it. Both must be on one file system.
func (f *Folder) Move(from *Folder, name, to string) error {
	if err := errors.Join(CheckName(name), CheckName(to)); err != nil {
		return err
	}
	return unix.Renameat(from.fd, name, f.fd, to)
}

// Mkdir makes a directory that was not there.
func (f *Folder) Mkdir(name string, mode uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return unix.Mkdirat(f.fd, name, mode&0o7777)
}

// Remove removes a file, a link or, if dir, an empty directory.
func (f *Folder) Remove(name string, dir bool) error {
	if err := CheckName(name); err != nil {
		return err
	}
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return unix.Unlinkat(f.fd, name, flags)
}

// Chmod sets the folder's own mode.
func (f *Folder) Chmod(mode uint32) error { return unix.Fchmod(f.fd, mode&0o7777) }

// ChmodFile sets the mode of the regular file of that name.
func (f *Folder) ChmodFile(name string, mode uint32) error {
	file, _, err := f.Read(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Fchmod(int(file.Fd()), mode&0o7777)
}

func statOf(st *unix.Stat_t) Stat {
	s := Stat{
		Kind: Special, Mode: uint32(st.Mode) & 0o7777, Size: st.Size,
		Mtime: unix.TimespecToNsec(st.Mtim), Ctime: unix.TimespecToNsec(st.Ctim),
		Inode: uint64(st.Ino), Device: uint64(st.Dev),
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		s.Kind = File
	case unix.S_IFLNK:
		s.Kind = Link
	case unix.S_IFDIR:
		s.Kind = Dir
	}
	return s
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}
