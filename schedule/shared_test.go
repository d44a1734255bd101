package schedule_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/schedule"
	"harness/store/memory"
)

// TestServersShareSchedules: what is added on one is followed by all, each time
// makes one session, and what is removed on one ends on all.
func TestServersShareSchedules(t *testing.T) {
	t.Parallel()
	early := filepath.Join(t.TempDir(), "early") // a server that was alone before
	synctest.Test(t, func(t *testing.T) {
		parsed, err := script.Parse(play)
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, mem: memory.New()}
		r.k = kernel.New(r.mem, map[string]harness.Engine{"e": script.New(parsed, nil)}, &kernel.Options{Engine: "e"})
		defer r.k.Close()
		alone, err := schedule.Open(r.k, early, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := alone.Add(schedule.Schedule{ID: "sch_0", When: "0 23 * * *", Prompt: "x", Role: harness.Operator, User: "bob"}); err != nil {
			t.Fatal(err)
		}
		if err := alone.Close(); err != nil {
			t.Fatal(err)
		}
		depot := memory.NewDepot()
		var all []*schedule.Scheduler
		for _, dir := range []string{early, filepath.Join(early, "b"), filepath.Join(early, "c")} {
			s, err := schedule.Open(r.k, dir, &schedule.Options{Shared: depot})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			r.k.OnCommit(s.Committed)
			s.Start()
			all = append(all, s)
		}
		if _, err := os.Stat(filepath.Join(early, "schedules.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file is still there: %v", err)
		}
		r.s = all[0]
		r.add(schedule.Schedule{When: "0 * * * *", Prompt: "hello"})
		synctest.Wait()
		for i, s := range all {
			if got := s.List(); len(got) != 2 || got[0].ID != "sch_0" || got[1].ID != "sch_1" {
				t.Fatalf("server %d follows %+v", i, got)
			}
		}
		time.Sleep(3*time.Hour + time.Second) // sleep: the bubble's clock is what is tested
		synctest.Wait()
		if n, prompts := r.made(); n != 3 || prompts != 3 {
			t.Errorf("%d sessions with %d prompts in three hours", n, prompts)
		}
		if err := all[2].Remove("sch_1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for i, s := range all {
			if _, err := s.Get("sch_1"); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("server %d still follows it: %v", i, err)
			}
		}
		time.Sleep(time.Hour) // sleep: the bubble's clock is what is tested
		synctest.Wait()
		if n, _ := r.made(); n != 3 {
			t.Errorf("%d sessions after its end", n)
		}
	})
}

// slowDepot takes a delivery when it is let.
type slowDepot struct {
	*memory.Depot
	came, let chan struct{}
}

func (d slowDepot) Deliver(ctx context.Context, v harness.Delivery) (uint64, error) {
	d.came <- struct{}{}
	<-d.let
	return d.Depot.Deliver(ctx, v)
}

// Whoever only looks at schedules does not wait for a store that takes its time
// with a change.
func TestASlowStoreHoldsNobodyUpWhoOnlyLooks(t *testing.T) {
	t.Parallel()
	d := slowDepot{memory.NewDepot(), make(chan struct{}), make(chan struct{})}
	s, err := schedule.Open(nil, t.TempDir(), &schedule.Options{Shared: d})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	added := make(chan error)
	go func() {
		_, err := s.Add(schedule.Schedule{ID: "sch_1", When: "0 * * * *", Prompt: "x", Role: harness.Operator, User: "bob"})
		added <- err
	}()
	<-d.came
	if all := s.List(); len(all) != 0 {
		t.Errorf("not kept yet, and listed: %+v", all)
	}
	if _, err := s.Get("sch_1"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("not kept yet, and there: %v", err)
	}
	close(d.let)
	if err := <-added; err != nil {
		t.Fatal(err)
	}
	if all := s.List(); len(all) != 1 {
		t.Errorf("listed are %+v", all)
	}
}
