// Package folder gives access to one directory of a tree that somebody else may
// be changing, and to nothing outside it.
//
// A Folder is an open directory. Every name given to it is a single component,
// no call follows a symbolic link, and a way through the tree is a chain of
// opened folders. So a link that is planted between two calls is an error,
// never a way out, nor a way into another part of the tree.
package folder

import "errors"

// ErrName refuses a name that is not one component of a path.
var ErrName = errors.New("not a name")

// Kind is what a name stands for.
type Kind uint8

const (
	File    Kind = iota + 1
	Link         // a symbolic link
	Dir          // a directory
	Special      // a socket, a named pipe, a device
)

// Stat is what the system says about a name. A link is described itself, not
// what it points to.
type Stat struct {
	Kind   Kind
	Mode   uint32 // permission bits, set-user-id and the like: 07777
	Size   int64
	Mtime  int64 // nanoseconds
	Ctime  int64 // nanoseconds
	Inode  uint64
	Device uint64
}

// CheckName returns ErrName unless s is one component of a path.
func CheckName(s string) error {
	if s == "" || s == "." || s == ".." {
		return ErrName
	}
	for i := range len(s) {
		if s[i] == '/' || s[i] == 0 {
			return ErrName
		}
	}
	return nil
}
