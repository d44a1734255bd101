package schedule

import (
	"errors"
	"testing"
	"time"

	"harness"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNextTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, zone, after, want string }{
		{"*/15 * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z"},
		{"*/15 * * * *", "", "2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z"},
		{"0 9 * * mon-fri", "", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"},
		{"30 4 1,15 * 5", "", "2026-01-02T05:00:00Z", "2026-01-09T04:30:00Z"}, // either day
		{"0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 12 * * 7", "", "2026-01-01T00:00:00Z", "2026-01-04T12:00:00Z"},
		{"5-10/5,50 3 * dec *", "", "2026-01-01T00:00:00Z", "2026-12-01T03:05:00Z"},
		{"@weekly", "", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
		{"0 9 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", "2026-06-01T07:00:00Z"},
		{"0 9 * * *", "Asia/Kathmandu", "2026-06-01T00:00:00Z", "2026-06-01T03:15:00Z"},
		// 29 March 2026: 02:00 is 03:00 in Berlin.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		{"30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"},
		{"0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		// 25 October 2026: 03:00 is 02:00 again in Berlin.
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		// The Chatham Islands change at a quarter to, Lord Howe by half an hour.
		{"0 3 27 9 *", "Pacific/Chatham", "2026-09-01T00:00:00Z", "2026-09-26T14:00:00Z"},
		{"10 2 4 10 *", "Australia/Lord_Howe", "2026-09-01T00:00:00Z", "2026-10-03T15:30:00Z"},
		// Midnight does not exist on the first day of summer in Cairo.
		{"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z"},
		{"every 15m", "", "2026-01-01T00:20:00Z", "2026-01-01T00:30:00Z"},
		{"@every 1h", "", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
	} {
		s, err := Parse(c.spec, c.zone, at(t, "2026-01-01T00:00:00Z"))
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if got := s.Next(at(t, c.after)); !got.Equal(at(t, c.want)) {
			t.Errorf("%s in %q after %s: %s, want %s", c.spec, c.zone, c.after, got.Format(time.RFC3339), c.want)
		}
	}
}

func TestWhatNeverHappensOrIsNotUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"0 0 30 2 *", ""}, {"60 * * * *", ""}, {"* * * *", ""}, {"*/0 * * * *", ""}, {"5-1 * * * *", ""}, {"a * * * *", ""}, {"-1 * * * *", ""}, {"+1 * * * *", ""},
		{"every 5s", ""}, {"every day", ""}, {"", ""}, {"* * * * *", "Mars/Base"}, {"* * * * *", "Local"}, {"* * * * *", "../etc/passwd"}, {"@reboot", ""}, {"* * 32 * *", ""},
	} {
		if _, err := Parse(c[0], c[1], time.Now()); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("%q in %q: %v", c[0], c[1], err)
		}
	}
}

// A chosen time happens once a day, whatever clocks do, all year, everywhere.
func TestADailyTimeHappensOnceADayAllYear(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Africa/Cairo", "America/Santiago"} {
		for _, spec := range []string{"30 2 * * *", "0 0 * * *"} {
			s, err := Parse(spec, zone, at(t, "2026-01-01T00:00:00Z"))
			if err != nil {
				t.Fatal(err)
			}
			loc, _ := time.LoadLocation(zone)
			days, last := map[string]int{}, time.Date(2026, 1, 1, 0, 0, 0, 0, loc).Add(-time.Second)
			for range 366 {
				next := s.Next(last)
				if !next.After(last) {
					t.Fatalf("%s in %s: %s after %s", spec, zone, next, last)
				}
				last = next
				if next.In(loc).Year() == 2026 {
					days[next.In(loc).Format(time.DateOnly)]++
				}
			}
			if len(days) != 365 {
				t.Errorf("%s in %s: on %d days", spec, zone, len(days))
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"*/15 0-5 1,2 jan mon", "every 15m", "@daily", "0 0 29 2 *"} {
		f.Add(s, "Europe/Berlin")
	}
	now := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, zone string) {
		s, err := Parse(text, zone, now)
		if err != nil {
			if !errors.Is(err, harness.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		for at := now; ; {
			next := s.Next(at)
			if next.IsZero() || next.After(now.AddDate(0, 0, 3)) {
				return
			}
			if !next.After(at) {
				t.Fatalf("%q: %s after %s", text, next, at)
			}
			at = next
		}
	})
}

func BenchmarkNext(b *testing.B) {
	s, err := Parse("0 0 29 2 *", "Europe/Berlin", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		b.Fatal(err)
	}
	now := time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC) // the worst there is: four years of hours
	for b.Loop() {
		s.Next(now)
	}
}
