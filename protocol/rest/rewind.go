package rest

import (
	"context"

	"harness"
)

type (
	// rewound says what a rewind did, or would do.
	rewound struct {
		SessionID    harness.SessionID `json:"session_id"`
		Seq          harness.Seq       `json:"seq"` // of its event
		MessageID    harness.ItemID    `json:"message_id"`
		DryRun       bool              `json:"dry_run"`
		Force        bool              `json:"force"`
		FilesChanged []string          `json:"files_changed"` // of restore and delete
		Insertions   int               `json:"insertions"`
		Deletions    int               `json:"deletions"`
		Conflicts    []string          `json:"conflicts"` // of conflict
		Restore      []rewoundFile     `json:"restore"`   // written as they were
		Delete       []rewoundFile     `json:"delete"`    // created since
		Conflict     []rewoundFile     `json:"conflict"`  // changed by somebody else; left alone unless forced
		Skipped      []rewoundFile     `json:"skipped"`   // not kept; left alone
		Failed       []rewoundFile     `json:"failed"`    // should have changed and could not
		Omitted      int               `json:"omitted"`   // how many are not listed
		Error        string            `json:"error,omitempty"`
		ItemID       harness.ItemID    `json:"item_id,omitempty"` // rewinding to it undoes the rewind
		Safety       string            `json:"safety,omitempty"`  // the snapshot before it
	}
	rewoundFile struct {
		Path       string `json:"path"`
		Insertions int    `json:"insertions"`
		Deletions  int    `json:"deletions"`
		Binary     bool   `json:"binary,omitempty"`
		Reason     string `json:"reason,omitempty"`
	}
)

func (s *Server) rewind(ctx context.Context, key string, p *onSession, b *rewindInput) (rewound, error) {
	cmd := harness.Rewind{Message: b.MessageID, DryRun: b.DryRun, Force: b.Force, ClientKey: key, Actor: by(ctx)}
	got, err := s.do(ctx, p.ID, cmd, key, func(e harness.Payload) bool {
		r, ok := e.(*harness.Rewound)
		return ok && r.MessageID == b.MessageID && r.DryRun == b.DryRun && r.Force == b.Force
	})
	if err != nil {
		return rewound{}, err
	}
	r := got.Rewound
	return rewound{
		p.ID, got.Seq, r.MessageID, r.DryRun, r.Force, append([]string{}, r.FilesChanged...), r.Insertions, r.Deletions, append([]string{}, r.Conflicts...),
		asFiles(r.Restore), asFiles(r.Delete), asFiles(r.Conflict), asFiles(r.Skipped), asFiles(r.Failed), r.Omitted, r.Error, r.ItemID, r.Safety,
	}, nil
}

func asFiles(all []harness.RewoundFile) []rewoundFile {
	list := make([]rewoundFile, len(all)) // never null
	for i, f := range all {
		list[i] = rewoundFile(f)
	}
	return list
}
