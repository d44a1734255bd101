package kernel

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/store/sqlite"
)

// BenchmarkWake is a session of 64 kB in the embedded store, from asleep to
// awake and asleep again, with nothing to do in between.
func BenchmarkWake(b *testing.B) {
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "harness.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	talk(b, st, "ses_1", 33)
	k := New(st, nil, &Options{IdleAfter: time.Nanosecond})
	defer k.Close()
	b.ReportAllocs()
	for b.Loop() {
		s, err := k.wake(b.Context(), "ses_1")
		if err != nil {
			b.Fatal(err)
		}
		<-s.done
	}
}

// talk makes a session of so many turns, of about 2 kB each.
func talk(b *testing.B, st harness.Store, id harness.SessionID, turns int) {
	b.Helper()
	play, err := script.Parse("stream 250 0s word\ncall bash => files\nstream 250 0s more\nusage 10 20")
	if err != nil {
		b.Fatal(err)
	}
	k := New(st, map[string]harness.Engine{"e": script.New(play, nil)}, &Options{Engine: "e"})
	defer k.Close()
	if _, err := k.Create(b.Context(), harness.NewSession{ID: id}); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	submit := func() {
		if _, err := k.Do(ctx, id, harness.Submit{Parts: harness.TextPart("go on"), Source: harness.FromResume}); err != nil {
			b.Fatal(err)
		}
	}
	submit()
	for up, err := range k.Watch(ctx, id, 1) {
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range up.Events {
			if _, ok := e.Payload.(*harness.TurnEnd); !ok {
				continue
			}
			if turns--; turns == 0 {
				return
			}
			submit()
		}
	}
}
