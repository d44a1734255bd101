package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"harness"
	"harness/internal/thin"
)

const headSuffix = ".head"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// headLine is the first line of a head; the state follows.
type headLine struct {
	Seq    harness.Seq `json:"seq"`
	Sealed int         `json:"sealed"` // how many messages the state leaves to the store
	CRC    uint32      `json:"crc32c"` // of the state
}

func headName(seq harness.Seq) string { return fmt.Sprintf("%020d%s", uint64(seq), headSuffix) }

// heads are the positions of the heads in dir, ascending.
func heads(dir string) ([]harness.Seq, error) {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []harness.Seq
	for _, n := range names {
		if digits, ok := strings.CutSuffix(n.Name(), headSuffix); ok {
			if seq, err := strconv.ParseUint(digits, 10, 64); err == nil {
				all = append(all, harness.Seq(seq))
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// readHead returns a head, or false for one that is missing or damaged.
func readHead(dir string, seq harness.Seq) (sealed int, state []byte, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, headName(seq)))
	first, state, found := bytes.Cut(data, []byte("\n"))
	var h headLine
	if err != nil || !found || json.Unmarshal(first, &h) != nil || h.Seq != seq || h.CRC != checksum(state) {
		return 0, nil, false
	}
	return h.Sealed, state, true
}

func writeHead(dir string, snap harness.Snapshot) error {
	first, err := json.Marshal(headLine{snap.Seq, snap.First + len(snap.Sealed), checksum(snap.State)})
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, headName(snap.Seq)), first, []byte("\n"), snap.State); err != nil {
		return err
	}
	all, err := heads(dir)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	for _, seq := range thin.Out(all) {
		err = errors.Join(err, os.Remove(filepath.Join(dir, headName(seq))))
	}
	return err
}
