package schedule_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/schedule"
	"harness/store/memory"
)

// play works for 24 minutes if asked to, and else is done at once.
const play = "when long\n  wait 24m\nend\nsay done\n"

type rig struct {
	t   testing.TB
	k   *kernel.Kernel
	s   *schedule.Scheduler
	mem harness.Store
}

func newRig(t testing.TB, st harness.Store, dir string) *rig {
	t.Helper()
	parsed, err := script.Parse(play)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, mem: st, k: kernel.New(st, map[string]harness.Engine{"e": script.New(parsed, nil)}, &kernel.Options{Engine: "e"})}
	if r.s, err = schedule.Open(r.k, dir, nil); err != nil {
		t.Fatal(err)
	}
	r.k.OnCommit(r.s.Committed)
	if _, err := r.k.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.s.Start()
	return r
}

// kill ends it without a word to the sessions.
func (r *rig) kill() {
	r.s.Close()
	r.k.Close()
}

func (r *rig) add(c schedule.Schedule) {
	r.t.Helper()
	c.ID, c.Role, c.User = "sch_1", harness.Operator, "ann"
	if _, err := r.s.Add(c); err != nil {
		r.t.Fatal(err)
	}
}

// made counts the sessions, and the turns that they were given.
func (r *rig) made() (n, prompts int) {
	r.t.Helper()
	for sum, err := range r.mem.List(context.Background(), harness.Filter{Kind: harness.Background, User: "ann"}) {
		if err != nil {
			r.t.Fatal(err)
		}
		n++
		for e, err := range r.mem.Read(context.Background(), sum.Session, 0) {
			if err != nil {
				r.t.Fatal(err)
			}
			if _, ok := e.Payload.(*harness.UserMessage); ok {
				prompts++
			}
		}
	}
	return n, prompts
}

func (r *rig) is(sessions int) {
	r.t.Helper()
	synctest.Wait()
	if n, prompts := r.made(); n != sessions || prompts != sessions {
		r.t.Errorf("%d sessions with %d prompts, want %d", n, prompts, sessions)
	}
}

func TestASessionIsMadeAtEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, memory.New(), t.TempDir())
		defer r.kill()
		r.add(schedule.Schedule{When: "0 * * * *", Prompt: "go"})
		for hour := range 5 {
			r.is(hour)
			pass(time.Hour)
		}
		r.is(5)
		if err := r.s.Remove("sch_1"); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Hour)
		r.is(5)
	})
}

// Times that pass while no server runs are made up for once, or forgotten.
func TestMissedTimesRunOnceOrNotAtAll(t *testing.T) {
	for missed, want := range map[schedule.Missed]int{schedule.RunOnce: 2, schedule.Forget: 1} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem, dir := memory.New(), t.TempDir()
				r := newRig(t, mem, dir)
				r.add(schedule.Schedule{When: "every 1h", Missed: missed, Prompt: "go"})
				pass(time.Hour + time.Minute)
				r.is(1)
				r.kill()
				pass(5*time.Hour + 20*time.Minute)
				r = newRig(t, mem, dir)
				defer r.kill()
				pass(time.Minute)
				r.is(want)
				pass(time.Hour)
				r.is(want + 1)
			})
		})
	}
}

func TestOverlaps(t *testing.T) {
	for overlap, want := range map[schedule.Overlap]int{schedule.Skip: 2, schedule.Queue: 3, schedule.Replace: 6} {
		t.Run(string(overlap), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, memory.New(), t.TempDir())
				defer r.kill()
				r.add(schedule.Schedule{When: "every 10m", Overlap: overlap, Prompt: "long"}) // each takes 24 minutes
				pass(time.Hour + time.Minute)
				synctest.Wait()
				if n, _ := r.made(); n != want {
					t.Errorf("%d sessions, want %d", n, want)
				}
				busy := 0
				for sum := range r.mem.List(t.Context(), harness.Filter{Statuses: []harness.Status{harness.Running}}) {
					if sum.Session != "" {
						busy++
					}
				}
				if busy > 1 {
					t.Errorf("%d at once", busy)
				}
			})
		})
	}
}

// moments is a kernel at which one can look before and after each verb.
type moments struct {
	*kernel.Kernel
	look func()
}

func (m *moments) Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error) {
	m.look()
	defer m.look()
	return m.Kernel.Create(ctx, n)
}

func (m *moments) Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error) {
	m.look()
	defer m.look()
	return m.Kernel.Do(ctx, id, cmd)
}

// A crash before or after anything that is done makes no session twice and
// leaves none out.
func TestACrashAnywhereMakesEachSessionOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, dir := memory.New(), t.TempDir()
		parsed, err := script.Parse(play)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel.New(mem, map[string]harness.Engine{"e": script.New(parsed, nil)}, &kernel.Options{Engine: "e"})
		type image struct {
			mem *memory.Store
			dir string
		}
		var images []image
		clone := func() {
			to := t.TempDir()
			if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
				t.Error(err)
			}
			images = append(images, image{mem.Clone(), to})
		}
		s, err := schedule.Open(&moments{k, clone}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		r := &rig{t: t, k: k, s: s, mem: mem}
		r.add(schedule.Schedule{When: "every 1h", Prompt: "go"})
		pass(time.Hour)
		synctest.Wait()
		clone()
		r.kill()
		if len(images) != 3 {
			t.Fatalf("%d moments", len(images))
		}
		for i, im := range images {
			r := newRig(t, im.mem, im.dir)
			pass(time.Second)
			if r.is(1); t.Failed() {
				t.Fatalf("after moment %d", i)
			}
			r.kill()
		}
	})
}

func TestRunNowIsOneSessionPerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, memory.New(), t.TempDir())
		defer r.kill()
		r.add(schedule.Schedule{When: "@yearly", Prompt: "go"})
		a, err := r.s.Run(t.Context(), "sch_1", "k")
		b, err2 := r.s.Run(t.Context(), "sch_1", "k")
		c, err3 := r.s.Run(t.Context(), "sch_1", "l")
		if err := errors.Join(err, err2, err3); err != nil || a != b || a == c {
			t.Errorf("%s %s %s %v", a, b, c, err)
		}
		r.is(2)
		if _, err := r.s.Run(t.Context(), "sch_2", "k"); !errors.Is(err, harness.ErrNotFound) {
			t.Error(err)
		}
	})
}

// pass lets time go by in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) // sleep: the bubble's clock
}
