package beside_test

import (
	"errors"
	"strings"
	"testing"

	"harness"
	"harness/archive/beside"
	"harness/store/memory"
)

// While a rewind is not at its end it is nobody else's to finish: all but its
// journal is copied, it is said, and after it another copy is without fault.
func TestACopyRefusesARewindThatIsNotAtItsEnd(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	deliver(t, depot, "hooks", "text", `[{"name":"a"}]`)
	deliver(t, depot, tree, "packs/1.pack", "p", "marks/ses_1/mrk_1", "{}", "journal", `{"session":"ses_1"}`)
	deliver(t, depot, "trees/1", "marks/ses_1/mrk_2", "{}")
	data, _ := folder(t)
	for _, journal := range []string{`{"session":"ses_1"}`, `{"session":"ses_2"}`} {
		deliver(t, depot, tree, "journal", journal)
		c, err := beside.Copy(t.Context(), depot, data)
		if !errors.Is(err, harness.ErrBusy) || !strings.Contains(err.Error(), tree) || !strings.Contains(err.Error(), journal[12:17]) || c.Snapshots != 2 || c.Webhooks != 1 {
			t.Errorf("%+v, %v", c, err)
		}
	}
	if _, err := depot.Deliver(t.Context(), harness.Delivery{Place: tree, At: harness.AnyVersion, Remove: []string{"journal"}}); err != nil {
		t.Fatal(err)
	}
	if c, err := beside.Copy(t.Context(), depot, data); err != nil || c.New != 0 || c.Snapshots != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := beside.Verify(t.Context(), depot, data, nil); err != nil {
		t.Error(err)
	}
	if _, err := data.Fetch(t.Context(), tree, "journal"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("the other server would go back a second time: %v", err)
	}
}
