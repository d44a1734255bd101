package main

import (
	"context"
	"fmt"
	"time"

	"harness"
	"harness/gateway"
	"harness/internal/mint"
	"harness/protocol/rest"
	"harness/schedule"
)

// servedSchedules is the scheduler for callers. A schedule's sessions are made
// in the name and with the role of whoever made it.
type servedSchedules struct {
	gate      *gateway.Gate
	scheduler *schedule.Scheduler
	secrets   secrets
}

func (s servedSchedules) Schedules(ctx context.Context) (list []rest.Schedule, err error) {
	if err := s.gate.Allow(ctx, gateway.List, ""); err != nil {
		return nil, err
	}
	for _, c := range s.scheduler.List() {
		if ownedBy(ctx, c.User, c.Scope) {
			list = append(list, asSchedule(c))
		}
	}
	return list, nil
}

func asSchedule(c schedule.Schedule) rest.Schedule {
	v := rest.Schedule{
		ScheduleID: c.ID, Name: c.Name, When: c.When, Zone: c.Zone, Overlap: string(c.Overlap), Missed: string(c.Missed), Prompt: c.Prompt,
		Engine: c.Engine, Directory: c.Directory, Model: c.Model, PermissionMode: c.Mode, MaxRetries: c.Retries, ExpiresAfterS: int64(c.Expires / time.Second), UserID: c.User, CreatedAt: c.Created,
		LastSessionID: c.Last, LastOutcome: c.Outcome,
	}
	if v.Zone == "" {
		v.Zone = "UTC"
	}
	if next := c.Next(time.Now()); !next.IsZero() {
		v.NextAt = &next
	}
	return v
}

// AddSchedule keeps a schedule that the caller could follow by hand.
func (s servedSchedules) AddSchedule(ctx context.Context, key string, n rest.NewSchedule) (rest.Schedule, error) {
	if err := s.gate.Allow(ctx, gateway.Schedule, ""); err != nil {
		return rest.Schedule{}, err
	}
	if n.PermissionMode != "" && n.PermissionMode != harness.Normal {
		if err := s.gate.Allow(ctx, gateway.Trust, ""); err != nil {
			return rest.Schedule{}, err
		}
	}
	c, _ := harness.CallerOf(ctx)
	made := schedule.Schedule{
		ID: mint.ID("sch_"), Name: n.Name, When: n.When, Zone: n.Zone, Overlap: schedule.Overlap(n.Overlap), Missed: schedule.Missed(n.Missed), Prompt: n.Prompt,
		Engine: n.Engine, Directory: n.Directory, Model: n.Model, Mode: n.PermissionMode, Retries: int(n.MaxRetries), Expires: time.Duration(n.ExpiresAfterS) * time.Second, User: c.User, Role: c.Role, Scope: c.Scope, Actor: c.Actor(),
	}
	if key != "" {
		made.ID = "sch_" + string(harness.KeyedSession("schedule of "+c.Actor(), key))
	}
	var err error
	if s.secrets.Known(n.Prompt) != n.Prompt {
		return rest.Schedule{}, fmt.Errorf("prompt: %w", harness.ErrSecret)
	}
	if n.Directory != "" {
		made.Directory, err = s.gate.Directory(c, n.Directory)
	}
	if err == nil {
		made, err = s.scheduler.Add(made)
	}
	if key != "" && err != nil && harness.AsError(err) == harness.ErrExists {
		made, err = s.scheduler.Get("sch_" + string(harness.KeyedSession("schedule of "+c.Actor(), key)))
	}
	s.gate.Did(ctx, gateway.Schedule, "add "+made.ID, err)
	if err != nil {
		return rest.Schedule{}, err
	}
	return asSchedule(made), nil
}

// own is a schedule that the caller may change.
func (s servedSchedules) own(ctx context.Context, id string) error {
	if err := s.gate.Allow(ctx, gateway.Schedule, ""); err != nil {
		return err
	}
	c, err := s.scheduler.Get(id)
	if err == nil && !ownedBy(ctx, c.User, c.Scope) {
		err = harness.ErrNotFound.Saying("no schedule " + id) // as if there were none
	}
	return err
}

func (s servedSchedules) RemoveSchedule(ctx context.Context, id string) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	err := s.scheduler.Remove(id)
	s.gate.Did(ctx, gateway.Schedule, "remove "+id, err)
	return err
}

func (s servedSchedules) RunSchedule(ctx context.Context, id, key string) (harness.SessionID, error) {
	if err := s.own(ctx, id); err != nil {
		return "", err
	}
	if key == "" {
		key = mint.ID("")
	}
	made, err := s.scheduler.Run(ctx, id, key)
	s.gate.Did(ctx, gateway.Schedule, "run "+id, err)
	return made, err
}
