package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"harness"
)

// depots opens two nodes on one store that has a depot.
func depots(t testing.TB, n Nodes) (here, there harness.Depot, store harness.Store) {
	t.Helper()
	node := n.Open(t)
	store = node(t)
	here = power[harness.Depot](t, store)
	return here, node(t).(harness.Depot), store
}

func deliver(t testing.TB, d harness.Depot, to harness.Delivery) uint64 {
	t.Helper()
	v, err := d.Deliver(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func fetch(t testing.TB, d harness.Depot, place, name string) ([]byte, error) {
	t.Helper()
	f, err := d.Fetch(t.Context(), place, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// held is the names of a place.
func held(t testing.TB, d harness.Depot, place string) (names []string, version uint64) {
	t.Helper()
	p, err := d.Place(t.Context(), place, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Files {
		names = append(names, f.Name)
	}
	return names, p.Version
}

func parcel(name, content string) harness.Parcel {
	return harness.Parcel{Name: name, Content: []byte(content)}
}

func whatIsDeliveredIsFetchedAnywhere(t testing.TB, n Nodes) {
	here, there, _ := depots(t, n)
	if names, v := held(t, there, "p"); len(names) > 0 || v != 0 {
		t.Fatalf("a place that nobody made: %v, version %d", names, v)
	}
	big := make([]byte, 2<<20+77) // more than a row, and not a whole number of them
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(big)
	contents := map[string][]byte{"big": big, "empty": {}, "small": []byte("x"), "twin": big}
	var d harness.Delivery
	d.Place = "p"
	for name, c := range contents {
		d.Add = append(d.Add, harness.Parcel{Name: name, Content: c})
	}
	v := deliver(t, here, d)
	p, err := there.Place(t.Context(), "p", 0)
	if err != nil || p.Version != v || len(p.Files) != len(contents) {
		t.Fatalf("the place is %+v, %v; want version %d", p, err, v)
	}
	if p, err := there.Place(t.Context(), "p", v); err != nil || p.Version != v || len(p.Files) != 0 {
		t.Fatalf("a place that is known: %d files, version %d, %v", len(p.Files), p.Version, err)
	}
	deliver(t, here, harness.Delivery{Place: "a/first", Add: []harness.Parcel{parcel("x", "1")}})
	deliver(t, here, harness.Delivery{Place: "emptied", Add: []harness.Parcel{parcel("x", "1")}})
	deliver(t, here, harness.Delivery{Place: "emptied", At: harness.AnyVersion, Remove: []string{"x"}})
	var places []string
	for name, err := range there.Places(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, name)
	}
	if !slices.Equal(places, []string{"a/first", "p"}) {
		t.Fatalf("the places are %q", places)
	}
	for i, f := range p.Files {
		want := contents[f.Name]
		if f.Size != int64(len(want)) || f.SHA256 != sha256.Sum256(want) || i > 0 && p.Files[i-1].Name >= f.Name {
			t.Fatalf("file %d is %+v", i, f)
		}
		if got, err := fetch(t, there, "p", f.Name); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %d bytes, %v; want %d", f.Name, len(got), err, len(want))
		}
	}
	f, err := there.Fetch(t.Context(), "p", "big")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if end, err := f.Seek(0, io.SeekEnd); err != nil || end != int64(len(big)) {
		t.Fatalf("its end is %d, %v", end, err)
	}
	if _, err := f.Seek(1<<20-3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 10)
	if _, err := io.ReadFull(f, part); err != nil || !bytes.Equal(part, big[1<<20-3:1<<20+7]) {
		t.Fatalf("from the middle: %v", err)
	}
	for _, missing := range [][2]string{{"p", "none"}, {"q", "big"}} {
		if _, err := fetch(t, there, missing[0], missing[1]); !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("what was never delivered: %v", err)
		}
	}
}

func aDeliveryIsConditional(t testing.TB, n Nodes) {
	here, there, _ := depots(t, n)
	first := deliver(t, here, harness.Delivery{Place: "p", Add: []harness.Parcel{parcel("a", "1"), parcel("b", "2")}})
	for _, at := range []uint64{0, first + 1} {
		if _, err := there.Deliver(t.Context(), harness.Delivery{Place: "p", At: at, Add: []harness.Parcel{parcel("c", "3")}, Remove: []string{"a"}}); !errors.Is(err, harness.ErrConflict) {
			t.Fatalf("at version %d: %v", at, err)
		}
	}
	second := deliver(t, there, harness.Delivery{Place: "p", At: first, Add: []harness.Parcel{parcel("b", "other"), parcel("c", "3")}, Remove: []string{"a", "never"}})
	if second <= first {
		t.Fatalf("version %d after %d", second, first)
	}
	if names, v := held(t, here, "p"); !slices.Equal(names, []string{"b", "c"}) || v != second {
		t.Fatalf("it holds %v at %d", names, v)
	}
	if got, err := fetch(t, here, "p", "b"); err != nil || string(got) != "other" {
		t.Fatalf("replaced: %q, %v", got, err)
	}
	won := make([]bool, 8)
	var wg sync.WaitGroup
	for i := range won {
		wg.Go(func() {
			at := []harness.Depot{here, there}[i%2]
			_, err := at.Deliver(context.WithoutCancel(t.Context()), harness.Delivery{Place: "p", At: second, Add: []harness.Parcel{parcel(fmt.Sprint("w", i), "same")}})
			if won[i] = err == nil; err != nil && !errors.Is(err, harness.ErrConflict) {
				t.Errorf("a rival: %v", err)
			}
		})
	}
	wg.Wait()
	won = slices.DeleteFunc(won, func(w bool) bool { return !w })
	if names, _ := held(t, here, "p"); len(won) != 1 || len(names) != 3 {
		t.Fatalf("%d of 8 rivals won, and it holds %v", len(won), names)
	}
	if _, err := here.Deliver(t.Context(), harness.Delivery{Place: "p", At: harness.AnyVersion, Add: []harness.Parcel{parcel("", "")}}); !errors.Is(err, harness.ErrInvalid) {
		t.Fatalf("a file without a name: %v", err)
	}
}

func filesGoWithTheirSession(t testing.TB, n Nodes) {
	here, there, store := depots(t, n)
	r := remover(t, store)
	for _, id := range []harness.SessionID{"a", "b"} {
		mustAppend(t, store, commit(id, 0, 1))
		deliver(t, here, harness.Delivery{Place: "of" + string(id), Add: []harness.Parcel{{Name: "x", Session: id, Content: []byte("the same")}, parcel("y", "beside it")}})
	}
	deliver(t, here, harness.Delivery{Place: "nobodys", Add: []harness.Parcel{parcel("y", "beside it")}})
	version := deliver(t, here, harness.Delivery{Place: "all", Add: []harness.Parcel{{Name: "a", Session: "a"}, {Name: "b", Session: "b"}, parcel("c", "the same")}})
	if err := r.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if names, v := held(t, there, "all"); !slices.Equal(names, []string{"b", "c"}) || v <= version {
		t.Fatalf("a place of many holds %v at %d, before at %d", names, v, version)
	}
	if names, _ := held(t, there, "ofa"); len(names) > 0 {
		t.Fatalf("its own place holds %v", names)
	}
	for at, want := range map[[2]string]string{{"ofb", "x"}: "the same", {"all", "c"}: "the same", {"ofb", "y"}: "beside it", {"nobodys", "y"}: "beside it"} {
		if got, err := fetch(t, there, at[0], at[1]); err != nil || string(got) != want {
			t.Fatalf("the same content of others: %q, %v", got, err)
		}
	}
	deliver(t, there, harness.Delivery{Place: "ofa", At: harness.AnyVersion, Add: []harness.Parcel{{Name: "x", Session: "a", Content: []byte("again")}}})
	if got, err := fetch(t, here, "ofa", "x"); err != nil || string(got) != "again" {
		t.Fatalf("delivered again: %q, %v", got, err)
	}
}

// sameContentComesAndGoes is for the moment in which the last file with some
// content goes while another one with it comes.
func sameContentComesAndGoes(t testing.TB, n Nodes) {
	here, there, _ := depots(t, n)
	rounds := 15
	if long() {
		rounds = 500
	}
	var wg sync.WaitGroup
	for i, d := range []harness.Depot{here, there, here} {
		wg.Go(func() {
			place := fmt.Sprint("p", i)
			ctx := context.WithoutCancel(t.Context())
			for range rounds {
				if _, err := d.Deliver(ctx, harness.Delivery{Place: place, At: harness.AnyVersion, Add: []harness.Parcel{parcel("x", "one"), parcel("y", "two")}}); err != nil {
					t.Errorf("comes: %v", err)
					return
				}
				for name, want := range map[string]string{"x": "one", "y": "two"} {
					if got, err := fetch(t, d, place, name); err != nil || string(got) != want {
						t.Errorf("what came: %q, %v", got, err)
						return
					}
				}
				if _, err := d.Deliver(ctx, harness.Delivery{Place: place, At: harness.AnyVersion, Remove: []string{"x", "y"}}); err != nil {
					t.Errorf("goes: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func aPlaceIsHeldByOne(t testing.TB, n Nodes) {
	here, there, _ := depots(t, n)
	release, err := here.Hold(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	other, err := there.Hold(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	refused := make(chan error, 1)
	wg.Go(func() {
		_, err := there.Hold(ctx, "p")
		refused <- err
	})
	cancel()
	if err := next(t, refused, "a hold that was given up"); !errors.Is(err, context.Canceled) {
		t.Fatalf("held by another: %v", err)
	}
	got := make(chan func(), 1)
	wg.Go(func() {
		release, err := there.Hold(t.Context(), "p")
		if err != nil {
			t.Errorf("after it was let go: %v", err)
		}
		got <- release
	})
	deliver(t, there, harness.Delivery{Place: "p", Add: []harness.Parcel{parcel("a", "1")}})
	select {
	case <-got:
		t.Error("two hold it")
		return
	default:
	}
	release()
	if release := next(t, got, "the next hold"); release != nil {
		release()
	}
}
