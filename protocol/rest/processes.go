package rest

import (
	"context"
	"time"

	"harness"
)

type (
	// Process is a process of a session: its runner, or an agent below it.
	Process struct {
		Role    string         `json:"role" rule:"words=runner|agent"`
		PID     int            `json:"pid"`
		Handle  string         `json:"handle,omitempty"` // what else finds it: a container, a cgroup
		Started time.Time      `json:"started_at"`
		Turn    harness.TurnID `json:"turn_id,omitempty"` // that it was started for
	}
	processList struct {
		Processes []Process `json:"processes"`
	}
)

// processes are those of a session that live now, the oldest first.
func (s *Server) processes(ctx context.Context, p *onSession) (processList, error) {
	list := processList{Processes: []Process{}}
	if _, err := s.row(ctx, p.ID, ""); err != nil {
		return list, err
	}
	if s.opts.Processes == nil {
		return list, nil
	}
	found, err := s.opts.Processes(p.ID)
	list.Processes = append(list.Processes, found...)
	return list, err
}
