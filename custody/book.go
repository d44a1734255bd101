package custody

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"harness"
	"harness/internal/whole"
)

// Role says what a process is to its session.
type Role string

// The roles.
const (
	Runner Role = "runner" // hosts the engine; outlives the server
	Agent  Role = "agent"  // works for the engine; dies with the runner
)

// Entry is one process.
type Entry struct {
	Session harness.SessionID `json:"session_id"`
	Turn    harness.TurnID    `json:"turn_id,omitempty"` // that it was started for
	Role    Role              `json:"role"`
	harness.ProcessRef
	Socket string    `json:"socket,omitempty"` // where a runner is reached
	Boot   string    `json:"boot,omitempty"`   // of the machine
	Since  time.Time `json:"since"`
}

// Alive reports whether the process is there, and is this one.
func (e Entry) Alive() bool { return e.Boot == boot() && alive(e.ProcessRef) }

// Book is the entries in a directory.
type Book struct{ dir string }

// Open opens the book in a directory, which only this user may read.
func Open(dir string) (*Book, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open custody: %w: %w", err, harness.ErrStorage)
	}
	return &Book{dir}, nil
}

// Dir is where the book is, for another process that writes into it.
func (b *Book) Dir() string { return b.dir }

// Ref names a process of this machine.
func Ref(pid int) harness.ProcessRef { return harness.ProcessRef{PID: pid, Started: started(pid)} }

// Record makes an entry durable. It fills in the time and the boot.
func (b *Book) Record(e Entry) (Entry, error) {
	if err := harness.CheckID("session id", string(e.Session)); err != nil {
		return e, err
	}
	e.Boot = boot()
	if e.Since.IsZero() {
		e.Since = time.Now().UTC().Truncate(time.Millisecond)
	}
	text, err := json.Marshal(e)
	if err != nil {
		return e, fmt.Errorf("record process %d: %w", e.PID, err)
	}
	if err := b.write(b.file(e), text); err != nil {
		return e, fmt.Errorf("record process %d: %w: %w", e.PID, err, harness.ErrStorage)
	}
	return e, nil
}

// write puts a file in its place at once, and returns when it is durable.
func (b *Book) write(name string, text []byte) error {
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return whole.Write(root, name, text)
}

// between stands where no session id has a character.
const between = "@"

func (b *Book) file(e Entry) string {
	return string(e.Session) + between + strconv.Itoa(e.PID) + "-" + strconv.FormatUint(e.Started, 10) + ".json"
}

// Forget removes an entry. One that is not there is fine.
func (b *Book) Forget(e Entry) error {
	if err := os.Remove(filepath.Join(b.dir, b.file(e))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget process %d: %w: %w", e.PID, err, harness.ErrStorage)
	}
	return nil
}

// Of lists the living processes of a session, the oldest first. What has ended
// is forgotten on the way.
func (b *Book) Of(session harness.SessionID) ([]Entry, error) {
	all, err := b.entries(string(session) + between)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e Entry) bool {
		dead := !e.Alive()
		if dead {
			_ = b.Forget(e) // the next look tries again
		}
		return dead
	})
	slices.SortStableFunc(all, func(x, y Entry) int { return x.Since.Compare(y.Since) })
	return all, nil
}

// All lists the living processes of all sessions.
func (b *Book) All() ([]Entry, error) {
	all, err := b.entries("")
	return slices.DeleteFunc(all, func(e Entry) bool { return !e.Alive() }), err
}

// entries reads those whose files begin with a prefix. A file that says nothing
// sensible is no entry, and is removed.
func (b *Book) entries(prefix string) ([]Entry, error) {
	files, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, fmt.Errorf("read custody: %w: %w", err, harness.ErrStorage)
	}
	var all []Entry
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), prefix) || !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		path := filepath.Join(b.dir, f.Name())
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // forgotten meanwhile
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read custody: %w: %w", err, harness.ErrStorage)
		}
		var e Entry
		if json.Unmarshal(text, &e) != nil || b.file(e) != f.Name() {
			_ = os.Remove(path)
			continue
		}
		all = append(all, e)
	}
	return all, nil
}
