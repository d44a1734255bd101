package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
)

// piped is an outbox, and where it leads to.
func piped(t *testing.T) (*outbox, *os.File) {
	t.Helper()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close(); ours.Close() })
	return newOutbox(ours), theirs
}

// TestWhatWasToldIsReadInOrderBeforeTheEnd although it is far more than a pipe
// holds, and nobody reads while it is told.
func TestWhatWasToldIsReadInOrderBeforeTheEnd(t *testing.T) {
	t.Parallel()
	o, theirs := piped(t)
	var writing sync.WaitGroup
	writing.Go(func() {
		if err := o.write(); err != nil {
			t.Error(err)
		}
	})
	defer writing.Wait()
	var want []byte
	for i := range 5 {
		line := bytes.Repeat([]byte{'a' + byte(i)}, 300<<10)
		want = append(append(want, line...), '\n')
		if err := o.add(line); err != nil {
			t.Fatal(err)
		}
	}
	o.hangUp()
	if err := o.add([]byte("late")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if got, err := io.ReadAll(theirs); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes were read, %v; want %d", len(got), err, len(want))
	}
}

// TestWhatCannotBeToldIsAnError for whoever tells more, and also for whoever
// waits for room.
func TestWhatCannotBeToldIsAnError(t *testing.T) {
	t.Parallel()
	o, theirs := piped(t)
	if err := o.add(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if err := o.add(make([]byte, maxUnread)); err == nil {
			t.Error("there is room for more than there may be")
		}
	})
	theirs.Close()
	if err := o.write(); err == nil {
		t.Error("what nobody reads was written")
	}
	waiting.Wait()
	if err := o.add([]byte("more")); err == nil || errors.Is(err, os.ErrClosed) {
		t.Errorf("more: %v", err)
	}
}
