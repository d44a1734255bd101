//go:build !unix

package folder

import (
	"errors"
	"os"
)

// Folder is an open directory. This system has no calls that take one, so
// nothing can be opened.
type Folder struct{}

// Open refuses.
func Open(string) (*Folder, error) { return nil, errors.ErrUnsupported }

func (f *Folder) Close() error                        { return errors.ErrUnsupported }
func (f *Folder) Open(string) (*Folder, error)        { return nil, errors.ErrUnsupported }
func (f *Folder) Self() (Stat, error)                 { return Stat{}, errors.ErrUnsupported }
func (f *Folder) Names([]byte, int) ([]string, error) { return nil, errors.ErrUnsupported }
func (f *Folder) Stat(string) (Stat, error)           { return Stat{}, errors.ErrUnsupported }
func (f *Folder) Read(string) (*os.File, Stat, error) { return nil, Stat{}, errors.ErrUnsupported }
func (f *Folder) Readlink(string) (string, error)     { return "", errors.ErrUnsupported }
func (f *Folder) Create(string, []byte, uint32) error { return errors.ErrUnsupported }
func (f *Folder) Symlink(string, string) error        { return errors.ErrUnsupported }
func (f *Folder) Move(*Folder, string, string) error  { return errors.ErrUnsupported }
func (f *Folder) Mkdir(string, uint32) error          { return errors.ErrUnsupported }
func (f *Folder) Remove(string, bool) error           { return errors.ErrUnsupported }
func (f *Folder) Chmod(uint32) error                  { return errors.ErrUnsupported }
func (f *Folder) ChmodFile(string, uint32) error      { return errors.ErrUnsupported }
func (f *Folder) ReadFull(string, []byte) (n int, before, after Stat, err error) {
	return 0, Stat{}, Stat{}, errors.ErrUnsupported
}
