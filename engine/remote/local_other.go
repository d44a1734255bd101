//go:build !unix

package remote

import (
	"fmt"
	"log/slog"
	"os/exec"

	"harness"
	"harness/custody"
)

// LocalOptions say how local runners are started and kept.
type LocalOptions struct {
	Command   func(socket string) *exec.Cmd
	Dir       string
	Book      *custody.Book
	Keys      map[string]string
	Data      string
	Abilities harness.Abilities
	Version   string
	Most      int
	Log       *slog.Logger
}

// Local needs processes that can outlive the one that started them.
func Local(LocalOptions) (*Engine, error) {
	return nil, fmt.Errorf("local runners on this system: %w", harness.ErrUnsupported)
}
