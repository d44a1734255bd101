package rest

import (
	"context"
	"maps"
	"slices"

	"harness"
)

type (
	// engineRow is what an engine tells of and takes.
	engineRow struct {
		Engine   string         `json:"engine"`
		Default  bool           `json:"default"` // of sessions that name none
		Events   []harness.Type `json:"events"`  // that its sessions may have
		Commands []string       `json:"commands"`
		Lacks    *harness.Lacks `json:"lacks,omitempty"` // of what there is
	}
	engineList struct {
		Engines []engineRow `json:"engines"`
	}
)

// engines are those that turns are run by, in the order of their names.
func (s *Server) engines(context.Context, *none) (engineList, error) {
	list := engineList{Engines: []engineRow{}}
	for _, name := range slices.Sorted(maps.Keys(s.opts.Engines)) {
		can := s.opts.Engines[name].Abilities()
		list.Engines = append(list.Engines, engineRow{name, name == s.opts.Engine, can.Events(), can.Commands(), can.Lacks()})
	}
	return list, nil
}
