package rpc

import (
	"context"

	"harness"
)

type (
	threadRewindResult struct {
		OK           bool           `json:"ok"`
		Seq          harness.Seq    `json:"seq"` // of its event
		MessageID    harness.ItemID `json:"messageId"`
		DryRun       bool           `json:"dryRun"`
		FilesChanged []string       `json:"filesChanged"` // of restore and delete
		Insertions   int            `json:"insertions"`
		Deletions    int            `json:"deletions"`
		Conflicts    []string       `json:"conflicts"` // of conflict
		Restore      []rewoundFile  `json:"restore"`
		Delete       []rewoundFile  `json:"delete"`
		Conflict     []rewoundFile  `json:"conflict"`
		Skipped      []rewoundFile  `json:"skipped"`
		Failed       []rewoundFile  `json:"failed"`
		Omitted      int            `json:"omitted"` // how many are not listed
		Error        string         `json:"error,omitempty"`
		ItemID       harness.ItemID `json:"itemId,omitempty"` // rewinding to it undoes the rewind
		Safety       string         `json:"safety,omitempty"`
	}
	rewoundFile struct {
		Path       string `json:"path"`
		Insertions int    `json:"insertions"`
		Deletions  int    `json:"deletions"`
		Binary     bool   `json:"binary,omitempty"`
		Reason     string `json:"reason,omitempty"`
	}
)

// threadRewind takes files back, or says what that would do.
func (c *conn) threadRewind(ctx context.Context, x *exchange, p *threadRewindParams) (threadRewindResult, error) {
	sum, err := c.summary(ctx, p.ThreadID)
	if err != nil {
		return threadRewindResult{}, err
	}
	if _, err := c.follow(ctx, x, p.ThreadID, sum.Seq); err != nil {
		return threadRewindResult{}, err
	}
	got, err := c.k.Do(ctx, p.ThreadID, harness.Rewind{Message: p.MessageID, DryRun: p.DryRun, Force: p.Force, ClientKey: p.ClientKey, Actor: c.opts.User})
	if err != nil {
		return threadRewindResult{}, err
	}
	r := got.Rewound
	return threadRewindResult{
		true, got.Seq, r.MessageID, r.DryRun, append([]string{}, r.FilesChanged...), r.Insertions, r.Deletions, append([]string{}, r.Conflicts...),
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
