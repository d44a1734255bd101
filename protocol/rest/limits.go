package rest

import (
	"fmt"

	"harness"
	"harness/archive"
	"harness/archive/transcript"
)

// maxImport is the default of [Options.MaxImport].
const maxImport = 64 << 20

// Limits lists the bounds of this protocol that a client can meet.
func Limits() []harness.Limit {
	return []harness.Limit{
		{Name: "Idempotency-Key", Value: fmt.Sprintf("%d characters", maxKey), Reason: "sessions keep the latest of them", Answer: "400"},
		{Name: "rows of a page", Value: fmt.Sprint(pageMax), Reason: "there is a cursor for more", Answer: "as many, and `next_cursor`"},
		{Name: "events that a page looks at", Value: fmt.Sprint(maxScanned), Reason: "a filter that chooses few of a long log", Answer: "a short page, and its cursor"},
		{Name: "bytes of a page of events", Value: harness.ByteSize(maxPageBytes), Reason: "it is made in memory", Answer: "a short page, and its cursor"},
		{Name: "texts of a state", Value: harness.ByteSize(maxStateBytes), Reason: "it is made in memory", Answer: "fewer messages; the newest is there"},
		{Name: "archive that is imported", Value: harness.ByteSize(maxImport), Reason: "it is held in memory until it is checked", Answer: "413"},
		{Name: "sessions that an archive's history is of", Value: fmt.Sprint(archive.MaxGenerations), Reason: "each is looked for, and what is before it folded", Answer: "413"},
		{Name: "line of a transcript that is imported", Value: harness.ByteSize(transcript.MaxLine), Reason: "the longest hold images", Answer: "400"},
		{Name: "time to send an archive", Value: importFor.String(), Reason: "64 MiB over a slow line", Answer: "408 or the connection closes"},
	}
}
