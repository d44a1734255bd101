package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/archive"
)

func events(n int) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for i := range n {
			e := harness.NewEvent("ses_a", harness.Seq(i+1), time.UnixMilli(int64(i)), "", &harness.Token{Text: fmt.Sprint("word ", i, " <&>\u2028")})
			if !yield(e, nil) {
				return
			}
		}
	}
}

func write(t testing.TB, n int) string {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(&b, events(n)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(s string) (n int, err error) {
	for _, e := range archive.Read(strings.NewReader(s)) {
		if e != nil {
			return n, e
		}
		n++
	}
	return n, nil
}

func TestReadingGivesTheSameBytesBack(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		text := write(t, n)
		var again bytes.Buffer
		if err := archive.Write(&again, archive.Read(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		if again.String() != text {
			t.Errorf("%d events: written again they differ", n)
		}
	}
}

// An event keeps fields that this build does not know, even one that is called
// like the seal's.
func TestAnEventIsNeverTakenForTheSeal(t *testing.T) {
	line := `{"archive":1,"seq":1,"id":"ses_a.1","ts":"2026-01-02T03:04:05.678Z","session_id":"ses_a","type":"token","tier":"default","payload":{"item_id":"itm_a","text":"x"}}`
	e, err := harness.DecodeEvent([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := archive.Write(&b, func(yield func(harness.Event, error) bool) { yield(e, nil) }); err != nil {
		t.Fatal(err)
	}
	if n, err := read(b.String()); n != 1 || err != nil || !strings.HasPrefix(b.String(), line+"\n") {
		t.Errorf("%d events, %v from\n%s", n, err, &b)
	}
}

func TestDamageIsFound(t *testing.T) {
	whole := write(t, 20)
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	for name, text := range map[string]string{
		"empty":            "",
		"cut before seal":  strings.Join(lines[:20], ""),
		"cut in a line":    whole[:len(whole)/2],
		"a line missing":   strings.Join(append(append([]string{}, lines[:5]...), lines[6:]...), ""),
		"lines swapped":    strings.Join(append([]string{lines[1], lines[0]}, lines[2:]...), ""),
		"a word changed":   strings.Replace(whole, "word 7", "word 8", 1),
		"behind the seal":  whole + lines[0],
		"not JSON":         "hello\n",
		"seal of others":   strings.Join(lines[:10], "") + lines[20],
		"from the future":  strings.Replace(whole, `{"archive":1`, `{"archive":2`, 1),
		"an event doubled": lines[0] + whole,
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := read(text); err == nil {
				t.Errorf("read %d events without an error", n)
			} else if !errors.Is(err, harness.ErrCorrupt) && !errors.Is(err, harness.ErrUnsupported) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, 3))
	f.Add("{}\n")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := read(s)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := archive.Write(&again, archive.Read(strings.NewReader(s))); err != nil {
			t.Fatalf("%d events read, then: %v", n, err)
		}
	})
}
