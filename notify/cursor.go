package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"harness"
	"harness/internal/whole"
)

// Slack is how long after its time an event may become known: events are dated
// before they are written, and clocks are set back.
const Slack = 10 * time.Minute

// cursor is how far a hook is: everything before Since was seen to, or happened
// before there was the hook; and of what is later, Handled.
type cursor struct {
	Since   time.Time            `json:"since"`
	Handled map[string]time.Time `json:"handled,omitempty"` // event ids, and their times
}

// old reports whether a notice was seen to, or is from before the hook.
func (c *cursor) old(n Notice) bool {
	_, handled := c.Handled[n.ID]
	return handled || n.Time.Before(c.Since)
}

// advance forgets what need not be known any more; oldest is the time of the
// oldest notice that waits, or zero.
func (c *cursor) advance(now, oldest time.Time) {
	since := now.Add(-Slack)
	if !oldest.IsZero() && oldest.Before(since) {
		since = oldest
	}
	if since.Before(c.Since) {
		return
	}
	c.Since = since
	maps.DeleteFunc(c.Handled, func(_ string, at time.Time) bool { return at.Before(since) })
}

// shelf keeps cursors in a directory.
type shelf struct{ root *os.Root }

const cursorSuffix = ".cursor.json"

// load is a hook's cursor; one that is new begins now and is kept at once, so
// that nothing that happens from here on can be missed.
func (s shelf) load(hook string, now time.Time) (cursor, error) {
	c := cursor{Since: now}
	text, err := fs.ReadFile(s.root.FS(), hook+cursorSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = s.save(hook, c)
	case err == nil:
		if err = json.Unmarshal(text, &c); err != nil {
			err = fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
		}
	}
	if c.Handled == nil {
		c.Handled = map[string]time.Time{}
	}
	if err != nil {
		return c, fmt.Errorf("cursor of hook %s: %w", hook, err)
	}
	return c, nil
}

func (s shelf) save(hook string, c cursor) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return whole.Write(s.root, hook+cursorSuffix, text)
}

// tidy forgets the cursors of hooks that are no more: should one of that name
// come again, it begins anew.
func (s shelf) tidy(hooks []Hook) error {
	names, err := fs.Glob(s.root.FS(), "*"+cursorSuffix)
	for _, name := range names {
		if !slices.ContainsFunc(hooks, func(h Hook) bool { return h.Name+cursorSuffix == name }) {
			err = errors.Join(err, s.root.Remove(name))
		}
	}
	return err
}

func (s shelf) forget(hook string) error {
	if err := s.root.Remove(hook + cursorSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cursor of hook %s: %w: %w", hook, err, harness.ErrStorage)
	}
	return nil
}
