package harness

import "context"

// Rewinder keeps the files of a directory as they were and takes them back. All
// sessions that work in the directory use it. Its methods may be called
// concurrently, and block.
type Rewinder interface {
	// Mark keeps the files as they are, for a session. It is durable when Mark
	// returns.
	Mark(ctx context.Context, session SessionID, phase MarkPhase) (Mark, error)
	// Rewind takes files back to a mark, or says what it would do. If some of
	// them could not be taken back, it returns the result of the rest and an
	// error. A mark that is no longer kept is [ErrUnsupported].
	Rewind(ctx context.Context, to Rewinding) (Rewound, error)
	// Forget lets go of what was kept for a session.
	Forget(session SessionID) error
}

// MarkPhase says what a session did when it took a mark. What changes between
// its MarkAfter and its next MarkBefore, somebody else has changed.
type MarkPhase string

// The phases.
const (
	MarkBefore MarkPhase = "before" // it begins to change files
	MarkAfter  MarkPhase = "after"  // it has stopped
)

// Mark names files as they were.
type Mark struct {
	ID         string
	Incomplete string // why something of them was not kept; empty if all was
}

// Rewinding is a wish to take files back.
type Rewinding struct {
	Session SessionID
	Mark    string
	// Lineage is, for each session whose beginning is also this one's, the last
	// mark of that beginning: what was done up to there is its own doing.
	Lineage map[SessionID]string
	// Children are sessions that it handed work to: what they did is its doing.
	Children []SessionID
	Force    bool
	DryRun   bool
}

// MaxRewound bounds the lists of a Rewound: more than anybody reads, and an
// event stays one that can be shown.
const MaxRewound = 1000

// Rewound says which files went back to their state at a message, or would.
type Rewound struct {
	MessageID    ItemID   `json:"message_id"`
	DryRun       bool     `json:"dry_run,omitempty"`
	FilesChanged []string `json:"files_changed,omitempty"` // of Restore and Delete
	Insertions   int      `json:"insertions,omitempty"`    // of Restore and Delete
	Deletions    int      `json:"deletions,omitempty"`
	Conflicts    []string `json:"conflicts,omitempty"` // of Conflict
	Error        string   `json:"error,omitempty"`

	Restore  []RewoundFile `json:"restore,omitempty"`  // written as they were
	Delete   []RewoundFile `json:"delete,omitempty"`   // created since
	Conflict []RewoundFile `json:"conflict,omitempty"` // changed by somebody else; left alone unless forced
	Skipped  []RewoundFile `json:"skipped,omitempty"`  // not kept then or now; left alone
	Failed   []RewoundFile `json:"failed,omitempty"`   // should have changed and could not
	Omitted  int           `json:"omitted,omitempty"`  // how many are not listed

	ItemID    ItemID `json:"item_id,omitempty"` // its own: rewinding to it undoes it
	Safety    string `json:"safety,omitempty"`  // the mark of the files before it
	After     string `json:"after,omitempty"`   // and behind it
	Force     bool   `json:"force,omitempty"`
	Actor     string `json:"actor,omitempty"`
	ClientKey string `json:"client_key,omitempty"`
}

// RewoundFile is a file of a rewind. A directory's path ends with a slash.
type RewoundFile struct {
	Path       string `json:"path"`
	Insertions int    `json:"insertions"` // lines that the rewind adds
	Deletions  int    `json:"deletions"`  // lines that it takes away
	Binary     bool   `json:"binary,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

func (*Rewound) Type() Type { return "rewind" }
func (*Rewound) payload()   {}

// Cut is r with lists of at most n entries; r itself if they are not longer.
func (r *Rewound) Cut(n int) *Rewound {
	c, cut := *r, false
	for _, list := range []*[]RewoundFile{&c.Restore, &c.Delete, &c.Conflict, &c.Skipped, &c.Failed} {
		if len(*list) > n {
			c.Omitted += len(*list) - n
			*list, cut = (*list)[:n], true
		}
	}
	for _, names := range []*[]string{&c.FilesChanged, &c.Conflicts} {
		if len(*names) > n {
			*names, cut = (*names)[:n], true
		}
	}
	if !cut {
		return r
	}
	return &c
}

// rewoundShown bounds the lists of the rewind that a state remembers.
const rewoundShown = 100
