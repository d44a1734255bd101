//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package object

import (
	"context"
	"errors"
)

type lock struct{}

// take refuses: without flock nothing keeps Collect away from a writer.
func take(context.Context, string, bool) (*lock, error) { return nil, errors.ErrUnsupported }

func (l *lock) release() error { return nil }

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

// Full knows no error of this system.
func Full(err error) error { return err }
