package paper

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"harness"
)

// Shared is where servers on one store have their papers, and hear of changes.
type Shared interface {
	harness.Depot
	harness.Bells
}

// Patience bounds how long anybody waits for one.
const Patience = 10 * time.Second

// HandedOver gives a file that had what is on a paper now another name, if it is
// there: it is not to be taken for what holds.
func HandedOver(root *os.Root, name string) error {
	err := root.Rename(name, name+".shared")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
