package paper_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"harness"
	"harness/internal/paper"
	"harness/store/memory"
)

func TestChangesOfManyAllCount(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p := paper.In(depot, "sum")
			for range 25 {
				if _, err := p.Change(t.Context(), func(text []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(text)) // empty at first
					return []byte(strconv.Itoa(n + 1)), nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p := paper.In(depot, "sum")
	text, version, err := p.Read(t.Context(), 0)
	if err != nil || string(text) != "100" {
		t.Fatalf("%q, %v", text, err)
	}
	if text, again, err := p.Read(t.Context(), version); err != nil || text != nil || again != version {
		t.Errorf("what is known: %q, %d, %v", text, again, err)
	}
	if v, err := p.Change(t.Context(), func([]byte) ([]byte, error) { return nil, nil }); err != nil || v != version {
		t.Errorf("no change: %d, %v", v, err)
	}
	if _, err := p.Change(t.Context(), func([]byte) ([]byte, error) { return nil, harness.ErrExists }); !errors.Is(err, harness.ErrExists) {
		t.Errorf("a refusal: %v", err)
	}
	if _, err := p.Change(t.Context(), func([]byte) ([]byte, error) { return make([]byte, paper.Max+1), nil }); !errors.Is(err, harness.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}
