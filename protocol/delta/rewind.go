package delta

import (
	"encoding/json"

	"harness"
)

// rewound is the last rewind as clients see it, in the state's field "rewind".
type rewound struct {
	MessageID    harness.ItemID `json:"messageId"`
	DryRun       bool           `json:"dryRun"`
	FilesChanged []string       `json:"filesChanged"`
	Insertions   int            `json:"insertions"`
	Deletions    int            `json:"deletions"`
	Conflicts    []string       `json:"conflicts"`
	Restore      []rewoundFile  `json:"restore"`
	Delete       []rewoundFile  `json:"delete"`
	Conflict     []rewoundFile  `json:"conflict"`
	Skipped      []rewoundFile  `json:"skipped"`
	Failed       []rewoundFile  `json:"failed,omitempty"`
	Omitted      int            `json:"omitted,omitempty"`
	Error        string         `json:"error,omitempty"`
	Forced       bool           `json:"force,omitempty"`
	ItemID       harness.ItemID `json:"itemId,omitempty"`
	Safety       string         `json:"safety,omitempty"`
	CommandID    string         `json:"commandId,omitempty"`
}

type rewoundFile harness.RewoundFile // whose names are one word each

// appendRewound appends a rewind. They are rare.
func appendRewound(dst []byte, r *harness.Rewound) []byte {
	b, err := json.Marshal(rewound{
		r.MessageID, r.DryRun, list(r.FilesChanged), r.Insertions, r.Deletions, list(r.Conflicts),
		files(r.Restore), files(r.Delete), files(r.Conflict), files(r.Skipped), files(r.Failed), r.Omitted,
		r.Error, r.Force, r.ItemID, r.Safety, r.ClientKey,
	})
	if err != nil { // there is nothing in it that cannot be encoded
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// list is never null.
func list(names []string) []string { return append([]string{}, names...) }

func files(all []harness.RewoundFile) []rewoundFile {
	list := make([]rewoundFile, len(all))
	for i, f := range all {
		list[i] = rewoundFile(f)
	}
	return list
}
