package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/store/sqlite"
)

// TestAnyFlippedBitIsFoundOrHarmless flips bits all over a database: whatever can
// be read is right, a log is whole or says that it is damaged, nothing panics.
func TestAnyFlippedBitIsFoundOrHarmless(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	flips := 300
	if os.Getenv("LONG") != "" {
		flips = 20_000
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	path := filepath.Join(t.TempDir(), "store.db")
	refused, damaged, harmless := 0, 0, 0
	for range flips {
		bad := append([]byte(nil), good...)
		at, bit := rnd.IntN(len(bad)), byte(1)<<rnd.IntN(8)
		bad[at] ^= bit
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		st, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			refused++
			continue
		}
		switch n, err := read(t, st, "a"); {
		case err == nil && n == 100:
			harmless++
		case errors.Is(err, harness.ErrCorrupt), errors.Is(err, harness.ErrStorage), n == 0 && errors.Is(err, harness.ErrNotFound):
			damaged++
		default:
			t.Errorf("bit %d of byte %d: %d events, then %v", bit, at, n, err)
		}
		for _, err := range st.List(t.Context(), harness.Filter{}) {
			if err != nil && !errors.Is(err, harness.ErrCorrupt) && !errors.Is(err, harness.ErrStorage) {
				t.Errorf("bit %d of byte %d: list: %v", bit, at, err)
			}
		}
		st.Close()
	}
	t.Logf("%d flips: %d refused at open, %d found by reading, %d harmless", flips, refused, damaged, harmless)
}
