package beside_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/archive/beside"
	"harness/gateway"
	"harness/internal/paper"
	"harness/schedule"
	"harness/store/memory"
)

// A text that no server of the other side would read is refused before it is
// there.
func TestACopyMakesNoTextThatIsTooLargeToRead(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	schedules := `[{"schedule_id":"s1","prompt":"` + long(5<<20) + `"}]`
	tokens := `{"tokens":[{"name":"a","sha256":"` + long(2<<20) + `"}]}`
	data, _ := folder(t)
	deliver(t, data, "schedules", "text", schedules)
	depot := memory.NewDepot()
	if c, err := beside.Copy(t.Context(), data, depot); !errors.Is(err, harness.ErrTooLarge) || c.Schedules+c.New > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if text, _, err := paper.In(depot, "schedules").Read(t.Context(), 0); err != nil || len(text) > 0 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	other, _ := folder(t)
	if c, err := beside.Copy(t.Context(), data, other); err != nil || c.Schedules != 1 {
		t.Errorf("into a data directory, whose server reads it: %+v, %v", c, err)
	}
	deliver(t, depot, "access/tokens", "text", tokens)
	empty, dir := folder(t)
	if _, err := beside.Copy(t.Context(), depot, empty); !errors.Is(err, harness.ErrTooLarge) {
		t.Error(err)
	}
	if all, err := gateway.NamedTokens(dir); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// What has become of a schedule is never set back, whoever has gone on with it.
func TestACopyTakesNoScheduleBackInTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	text := func(s schedule.Schedule) string {
		b, err := json.Marshal([]schedule.Schedule{s})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := schedule.Schedule{ID: "s1", When: "@hourly", Prompt: "go", Created: at, Done: at, Outcome: "queued", Waits: at}
	later := first
	later.Done, later.Starts, later.Waits, later.Last, later.Outcome = at.Add(2*time.Hour), at.Add(2*time.Hour), time.Time{}, "ses_2", "started"
	same := first // it was run by hand
	same.Last, same.Outcome = "ses_1", "started"
	for what, c := range map[string]struct{ has, gets, stays schedule.Schedule }{
		"the target ran on":    {first, later, later},
		"the source ran on":    {later, first, later},
		"up to the same time":  {first, same, same},
		"from the same time":   {same, first, first},
		"nothing has happened": {first, first, first},
	} {
		depot := memory.NewDepot()
		deliver(t, depot, "schedules", "text", text(c.has))
		data, dir := folder(t)
		deliver(t, data, "schedules", "text", text(c.gets))
		if _, err := beside.Copy(t.Context(), depot, data); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := beside.Verify(t.Context(), depot, data, nil); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "schedules/schedules.json")); err != nil || string(got) != text(c.stays) {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
}
