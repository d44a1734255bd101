package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"harness"
	"harness/internal/paper"
)

// shared keeps schedules for several servers.
type shared struct {
	own     file // what was here before
	bells   harness.Bells
	paper   *paper.Paper
	version uint64
}

// share keeps schedules where servers share them, and gives them those of the
// directory, whose file has another name then.
func share(own file, s Shared) (*shared, error) {
	k := &shared{own: own, bells: s, paper: paper.In(s, "schedules")}
	mine, err := own.load(nil)
	if err != nil || len(mine) == 0 {
		return k, err
	}
	_, err = k.change(nil, func(all []*Schedule) ([]*Schedule, error) {
		for _, c := range mine {
			if index(all, c.ID) < 0 {
				all = append(slices.Clone(all), c)
			}
		}
		return all, nil
	})
	if err == nil {
		err = paper.HandedOver(own.root, own.name)
	}
	return k, err
}

func (k *shared) load(known []*Schedule) ([]*Schedule, error) {
	ctx, cancel := context.WithTimeout(context.Background(), paper.Patience)
	defer cancel()
	at := k.version
	if known == nil {
		at = 0
	}
	text, version, err := k.paper.Read(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("schedules: %w", err)
	}
	if text == nil {
		return known, nil
	}
	all, err := decode(text)
	if err == nil {
		k.version = version
	}
	return all, err
}

func decode(text []byte) (all []*Schedule, err error) {
	if len(text) == 0 {
		return []*Schedule{}, nil
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("schedules: %w: %w", err, harness.ErrCorrupt)
	}
	return all, nil
}

func (k *shared) change(_ []*Schedule, f func(all []*Schedule) ([]*Schedule, error)) (next []*Schedule, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), paper.Patience)
	defer cancel()
	version, err := k.paper.Change(ctx, func(text []byte) ([]byte, error) {
		all, err := decode(text)
		if err != nil {
			return nil, err
		}
		if next, err = f(all); err != nil || next == nil {
			next = nil
			return nil, err
		}
		return json.Marshal(next)
	})
	if err != nil {
		return nil, err
	}
	if next != nil {
		k.version = version
	}
	return next, nil
}

func (k *shared) news() (<-chan struct{}, func()) { return k.bells.Hang(k.paper.Topic()) }

func (k *shared) close() error { return k.own.root.Close() }
