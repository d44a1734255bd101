package chunk_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"harness"
	"harness/internal/chunk"
)

// FuzzChunk damages a stored commit: it is either found damaged or exactly what
// was stored, and never a panic, a skipped event or one of another session.
func FuzzChunk(f *testing.F) {
	c := harness.Commit{Session: "a", After: 6}
	for seq := harness.Seq(7); seq < 10; seq++ {
		c.Events = append(c.Events, harness.NewEvent("a", seq, time.UnixMilli(1), "trn_1", &harness.Token{Text: "some text"}))
	}
	stored, err := chunk.Encode(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(len(stored), 0, byte(0), uint64(7), uint64(9), false, []byte{})
	f.Add(len(stored)-1, 0, byte(0), uint64(7), uint64(9), false, []byte{})
	f.Add(len(stored), 20, byte(4), uint64(7), uint64(9), false, []byte{})
	f.Add(len(stored), 8, byte(1), uint64(7), uint64(9), true, []byte{})
	f.Add(0, 0, byte(0), uint64(0), uint64(1<<64-1), true, []byte("\n\n"))
	f.Add(len(stored), 0, byte(0), uint64(7), uint64(10), true, []byte("\n{}"))
	f.Fuzz(func(t *testing.T, cut, at int, flip byte, first, last uint64, resum bool, tail []byte) {
		data := bytes.Clone(stored[:max(0, min(cut, len(stored)))])
		if at >= 0 && at < len(data) {
			data[at] ^= flip
		}
		data = append(data, tail...)
		ch := chunk.Chunk{First: harness.Seq(first), Last: harness.Seq(last), CRC: chunk.Checksum(stored), Data: bytes.Clone(data)}
		if resum { // damage that the checksum does not show: the form must
			ch.CRC = chunk.Checksum(data)
		}
		events, err := ch.Decode("a")
		if err != nil {
			if !errors.Is(err, harness.ErrCorrupt) || events != nil {
				t.Fatalf("%d events and %v", len(events), err)
			}
			return
		}
		if !resum && !bytes.Equal(data, stored) {
			t.Fatalf("damage was not found in %q", data)
		}
		var again [][]byte
		for i, e := range events {
			if e.Seq != harness.Seq(first)+harness.Seq(i) || e.Session != "a" {
				t.Fatalf("event %d of %s at place %d of %d", e.Seq, e.Session, i, first)
			}
			again = append(again, e.JSON())
		}
		if uint64(len(events)) != last-first+1 || !bytes.Equal(bytes.Join(again, []byte{'\n'}), data) {
			t.Fatalf("%d events from %d to %d are not the stored bytes", len(events), first, last)
		}
	})
}
