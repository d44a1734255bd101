package schedule

import "time"

// Next is the first time after another one, or zero if there is none within
// nine years.
//
// Where the clock is set forward, an hour that was chosen and does not exist
// that day happens at the moment of the change; where it is set back, it happens
// the first time only. A spec for every hour goes by real time instead.
func (s Spec) Next(after time.Time) time.Time {
	if s.every > 0 {
		if after.Before(s.anchor) {
			return s.anchor
		}
		return s.anchor.Add((after.Sub(s.anchor)/s.every + 1) * s.every)
	}
	t := after.In(s.zone).Truncate(time.Minute).Add(time.Minute)
	for end := after.Add(horizon); t.Before(end); {
		switch {
		case s.leaps(t):
			return t.UTC()
		case !s.onDay(t) || !has(s.hour, t.Hour()):
			hour := t.Add(time.Duration(60-t.Minute()) * time.Minute)
			if wall(hour).Sub(wall(t)) != hour.Sub(t) { // the clock is set in between
				hour = t.Add(time.Minute)
			}
			t = hour
		case !has(s.minute, t.Minute()) || !s.anyHour && repeats(t):
			t = t.Add(time.Minute)
		default:
			return t.UTC()
		}
	}
	return time.Time{}
}

func has(set uint64, n int) bool { return set&(1<<n) != 0 }

// onDay follows cron: if both days are chosen, either will do.
func (s Spec) onDay(t time.Time) bool {
	if !has(s.month, int(t.Month())) {
		return false
	}
	day, weekday := has(s.day, t.Day()), has(s.weekday, int(t.Weekday()))
	if s.anyDay || s.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// jumped reports whether the clock was set forward at t.
func (s Spec) jumped(t time.Time) bool { return wall(t).Sub(wall(t.Add(-time.Minute))) > time.Minute }

// leaps reports whether the clock was set forward at t over a chosen time.
func (s Spec) leaps(t time.Time) bool {
	if s.anyHour || !s.jumped(t) {
		return false
	}
	for w := wall(t.Add(-time.Minute)).Add(time.Minute); w.Before(wall(t)); w = w.Add(time.Minute) {
		if s.onDay(w) && has(s.hour, w.Hour()) && has(s.minute, w.Minute()) {
			return true
		}
	}
	return false
}

// repeats reports whether the clock showed the same before, and was set back.
func repeats(t time.Time) bool {
	for _, by := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		if wall(t.Add(-by)).Equal(wall(t)) {
			return true
		}
	}
	return false
}

// wall is what a clock shows, as if there were no zones.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}
