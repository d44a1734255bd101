package schedule

import (
	"context"
	"fmt"
	"slices"
	"time"

	"harness"
)

// Add keeps a schedule. It begins with its next time from now on.
func (s *Scheduler) Add(c Schedule) (Schedule, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	c.Created, c.Done = now, now
	c.Waits, c.Last, c.Outcome = time.Time{}, "", ""
	if err := harness.CheckID("schedule id", c.ID); err != nil {
		return Schedule{}, err
	}
	if err := c.Check(); err != nil {
		return Schedule{}, err
	}
	err := s.change(func(all []*Schedule) ([]*Schedule, error) {
		switch {
		case index(all, c.ID) >= 0:
			return nil, fmt.Errorf("there is a schedule %s: %w", c.ID, harness.ErrExists)
		case len(all) >= MaxSchedules:
			return nil, fmt.Errorf("there are %d schedules: %w", len(all), harness.ErrQuota)
		}
		return append(slices.Clone(all), &c), nil
	})
	if err != nil {
		return Schedule{}, err
	}
	s.ring()
	return c, nil
}

// List is every schedule, in the order of their making.
func (s *Scheduler) List() (all []Schedule) {
	for _, c := range s.known() {
		all = append(all, *c)
	}
	return all
}

// Get is one schedule.
func (s *Scheduler) Get(id string) (Schedule, error) {
	all := s.known()
	i := index(all, id)
	if i < 0 {
		return Schedule{}, absent(id)
	}
	return *all[i], nil
}

// Remove forgets a schedule. Sessions that it has made go on.
func (s *Scheduler) Remove(id string) error {
	return s.change(func(all []*Schedule) ([]*Schedule, error) {
		i := index(all, id)
		if i < 0 {
			return nil, absent(id)
		}
		return slices.Delete(slices.Clone(all), i, i+1), nil
	})
}

// Run makes a session of a schedule now, whatever else it has under way. Under
// the same key it is the same session.
func (s *Scheduler) Run(ctx context.Context, id, key string) (harness.SessionID, error) {
	c, err := s.Get(id)
	if err != nil {
		return "", err
	}
	made := harness.KeyedSession("run of schedule "+id, key)
	if err := s.start(c.behalf(ctx), &c, made, time.Now()); err != nil {
		return "", err
	}
	return made, s.note(id, func(c *Schedule) { c.Last, c.Outcome = made, "started" })
}
