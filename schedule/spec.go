package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"harness"
)

// Spec says at which times something happens. Make one with [Parse].
type Spec struct {
	every  time.Duration // 0: by the fields
	anchor time.Time     // of every
	zone   *time.Location

	minute, hour, day, month, weekday uint64 // sets of numbers
	anyHour                           bool   // the hours were not chosen: clock changes do not matter
	anyDay, anyWeekday                bool
}

// Bounds of a spec.
const (
	// Least is the shortest interval: a session takes longer to begin.
	Least = 10 * time.Second
	// horizon is how far away the next time may be: 29 February, and then one
	// more that the century leaves out.
	horizon = 9 * 366 * 24 * time.Hour
)

// field is one of the five of cron.
type field struct {
	name     string
	min, max int
	words    []string // for min, min+1, …
}

var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of the week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// shorts are words for usual times.
var shorts = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// Parse reads cron's five fields (minute, hour, day of the month, month, day of
// the week), one of its @words, or "every" and a duration, which counts from
// anchor. Fields are read on the clock of zone: an IANA name, empty for UTC. A
// spec that never happens is refused, like everything that is not understood,
// with an error that wraps [harness.ErrInvalid].
func Parse(text, zone string, anchor time.Time) (Spec, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil || strings.EqualFold(zone, "local") { // whose?
		return Spec{}, fmt.Errorf("time zone %q is not known: %w", zone, harness.ErrInvalid)
	}
	s := Spec{zone: loc, anchor: anchor}
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 2 && (words[0] == "every" || words[0] == "@every") {
		if s.every, err = time.ParseDuration(words[1]); err != nil || s.every < Least {
			return Spec{}, fmt.Errorf("%q is not a duration of at least %s: %w", words[1], Least, harness.ErrInvalid)
		}
		return s, nil
	}
	if len(words) == 1 && shorts[words[0]] != "" {
		words = strings.Fields(shorts[words[0]])
	}
	if len(words) != len(fields) {
		return Spec{}, fmt.Errorf("%q: want five fields, an @word, or every and a duration: %w", text, harness.ErrInvalid)
	}
	for i, set := range []*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		if *set, err = fields[i].parse(words[i]); err != nil {
			return Spec{}, err
		}
	}
	if s.weekday&(1<<7) != 0 { // Sunday is 0 and 7
		s.weekday |= 1
	}
	s.anyHour = strings.HasPrefix(words[1], "*")
	s.anyDay, s.anyWeekday = strings.HasPrefix(words[2], "*"), strings.HasPrefix(words[4], "*")
	if s.Next(anchor).IsZero() {
		return Spec{}, fmt.Errorf("%q never happens: %w", text, harness.ErrInvalid)
	}
	return s, nil
}

// parse is the set of a field: lists of numbers, ranges and steps.
func (f field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		low, high, step := f.min, f.max, 1
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.max {
				return 0, f.wrong(part)
			}
		}
		if span != "*" {
			from, to, ranged := strings.Cut(span, "-")
			if low, err = f.number(from); err != nil {
				return 0, err
			}
			switch {
			case ranged:
				if high, err = f.number(to); err != nil {
					return 0, err
				}
			case !stepped:
				high = low
			}
		}
		if low > high {
			return 0, f.wrong(part)
		}
		for n := low; n <= high; n += step {
			set |= 1 << n
		}
	}
	return set, nil
}

func (f field) number(text string) (int, error) {
	for i, w := range f.words {
		if text == w {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max || strings.ContainsAny(text, "+-") {
		return 0, f.wrong(text)
	}
	return n, nil
}

func (f field) wrong(text string) error {
	return fmt.Errorf("%s %q: want numbers from %d to %d: %w", f.name, text, f.min, f.max, harness.ErrInvalid)
}
