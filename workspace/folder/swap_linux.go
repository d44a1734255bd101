package folder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Swap exchanges what is called name in from with what is called to in f, at one
// instant. It returns errors.ErrUnsupported where that cannot be done.
func (f *Folder) Swap(from *Folder, name, to string) error {
	if err := errors.Join(CheckName(name), CheckName(to)); err != nil {
		return err
	}
	err := unix.Renameat2(from.fd, name, f.fd, to, unix.RENAME_EXCHANGE)
	if err == unix.EINVAL || err == unix.ENOSYS {
		return errors.ErrUnsupported
	}
	return err
}

// Refill makes the file what a new one with this content and mode would be, and
// reports whether it could: only if nobody else can tell. It has no other name,
// nobody has it open, it is ours and has nothing that a new one has not. Making
// new files is what costs most: a file system may look long for a free one.
func (f *Folder) Refill(name string, data []byte, mode uint32) (bool, error) {
	if err := CheckName(name); err != nil {
		return false, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return false, nil
	}
	ok, err := refill(fd, data, mode)
	if closed := unix.Close(fd); err == nil {
		err = closed
	}
	return ok, err
}

func refill(fd int, data []byte, mode uint32) (bool, error) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		return false, nil
	}
	if n, err := unix.Flistxattr(fd, nil); n != 0 || err != nil {
		return false, nil
	}
	// The system grants this to nobody as long as somebody else has the file
	// open or mapped, and lets nobody open it until fd is closed.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return false, nil
	}
	if err := unix.Ftruncate(fd, 0); err != nil {
		return false, err
	}
	if err := fill(fd, data); err != nil {
		return false, err
	}
	return true, unix.Fchmod(fd, mode&0o7777)
}
