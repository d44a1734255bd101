package beside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"harness"
)

// isJournal reports whether a file is the journal of a rewind. It is not
// content: it says that a tree is halfway between two marks, and whoever finds it
// makes the rest of the way.
func isJournal(place, name string) bool {
	return strings.HasPrefix(place, treesAt) && name == journalAt
}

// rewind refuses a rewind that is under way, or was cut short. Its journal is not
// copied: both servers would finish it, the second over what the tree is by then.
// It is not left out in silence either: if the first never runs again, nobody
// would finish it. So it is to be finished where it was begun; then there is none.
func (c *copier) rewind(ctx context.Context, place string) error {
	b, err := read(ctx, c.from, place, journalAt)
	if errors.Is(err, harness.ErrNotFound) { // it has ended meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	var journal struct {
		Session harness.SessionID `json:"session"`
	}
	whose := ""
	if json.Unmarshal(b, &journal) == nil && journal.Session != "" {
		whose = " by session " + string(journal.Session)
	}
	c.rewinds = append(c.rewinds, harness.ErrBusy.Saying(fmt.Sprintf(
		"copy %s: a rewind%s is not at its end; its server finishes it before the next turn in that directory, then copy again (the rest has been copied)", place, whose)))
	return nil
}
