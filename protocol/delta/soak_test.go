package delta_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"harness"
	"harness/internal/socket"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

const soakScript = `when big
  repeat 12
    say ` + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" + `
    call look {"at":1} => seen
  end
else when ask
  ask bash {"c":1} "May I" => did
  say asked
else when hang
  say hanging
  hang
else when torrent
  stream 400 0s ` + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" + `
else when steer
  steer
else
  type the quick brown fox
  think hm
end
`

// actor is a client of the soak: it reads with its own tree and never computes.
type actor struct {
	s    *soak
	rnd  *rand.Rand
	r    *raw
	c    *client
	sent int
	home string

	truth  *harness.State // of the session that it sees
	looked int            // how many frames it had then
}

type soak struct {
	sv       *server
	ids      []string
	commands atomic.Int64
	moves    atomic.Int64
	resumed  atomic.Int64
}

func (a *actor) connect() {
	if a.r != nil {
		a.r.nc.Close()
	}
	query := "?sessionId=" + a.home
	switch a.rnd.IntN(5) {
	case 0:
		query += "&window=64"
	case 1:
		query += "&hb=1"
	case 2, 3:
		if a.c != nil && a.c.seq > 0 && a.c.state().SessionID == a.home && a.c.state().FirstMessage == 0 {
			query += fmt.Sprint("&since=", a.c.seq)
			a.s.resumed.Add(1)
			a.r = a.s.sv.raw(query, 0)
			return
		}
	}
	a.r = a.s.sv.raw(query, []int{0, 0, 0, 64 << 10}[a.rnd.IntN(4)])
	a.c = a.r.client()
}

// read takes frames until cond, or the end of the connection.
func (a *actor) read(cond func() bool) error {
	for !cond() {
		h, b, err := a.r.next()
		if err != nil {
			return err
		}
		switch h.OpCode {
		case ws.OpText:
			if err := a.c.take(b); err != nil {
				return err
			}
		case ws.OpPing:
			a.r.send(ws.OpPong, b)
		}
	}
	return nil
}

func (a *actor) command() string {
	s := a.c.state()
	id := fmt.Sprintf(`"commandId":"%p-%d"`, a, a.sent)
	a.sent++
	a.s.commands.Add(1)
	if len(s.PendingApprovals) > 0 && a.rnd.IntN(3) > 0 {
		return fmt.Sprintf(`{"type":%q,"toolCallId":%q,%s}`, []string{"approve", "deny"}[a.rnd.IntN(2)], s.PendingApprovals[0].ToolCallID, id)
	}
	switch a.rnd.IntN(12) {
	case 0, 1:
		return `{"type":"cancel",` + id + `}`
	case 2:
		return `{"type":"steer","message":"left",` + id + `}`
	case 3:
		return fmt.Sprintf(`{"type":"configure","config":{"maxTurns":%d},%s}`, 1+a.rnd.IntN(9), id)
	case 4:
		a.home = a.s.ids[a.rnd.IntN(len(a.s.ids))]
		a.s.moves.Add(1)
		return fmt.Sprintf(`{"type":"resume","sessionId":%q,"prompt":"moved",%s}`, a.home, id)
	}
	return fmt.Sprintf(`{"type":"submit","prompt":%q,%s}`, []string{"big", "ask", "hang", "torrent", "steer", "a", "b", "c"}[a.rnd.IntN(8)], id)
}

// act does what clients do until the time is up: commands, several at once or
// one by one, reading late or never, and coming back.
func (a *actor) act(ctx context.Context) error {
	a.connect()
	for ctx.Err() == nil {
		if a.rnd.IntN(6) == 0 {
			a.connect()
		}
		a.r.nc.SetDeadline(time.Now().Add(patience)) // for each round, not for a whole life
		if err := a.read(func() bool { return len(a.c.kinds) > 0 }); err != nil {
			return fmt.Errorf("the first frame: %w", err)
		}
		want := len(a.c.acks) + len(a.c.errs)
		n := 1 + a.rnd.IntN(4)
		for range n {
			if err := a.r.send(ws.OpText, []byte(`{"type":"commands","commands":[`+a.command()+`]}`)); err != nil {
				return fmt.Errorf("send: %w", err)
			}
		}
		if a.rnd.IntN(4) == 0 {
			continue // reads later, or never
		}
		if err := a.read(func() bool { return len(a.c.acks)+len(a.c.errs) >= want+n }); err != nil {
			return fmt.Errorf("answers: %w", err)
		}
	}
	return nil
}

// settled reports whether the client sees what the log says. It looks only
// when that can be: the last few events of a log may be nothing to see.
func (a *actor) settled(sv *server) bool {
	news := a.c.kinds[a.looked:]
	a.looked = len(a.c.kinds)
	if a.looked == 0 || a.truth != nil && !slices.Contains(news, "state") && !slices.Contains(news, "delta") {
		return false
	}
	if a.truth == nil || slices.Contains(news, "state") || a.c.seq > uint64(a.truth.Seq) {
		a.truth = sv.truth(a.c.state().SessionID)
	}
	if a.c.seq+16 < uint64(a.truth.Seq) {
		return false
	}
	now := a.c.state()
	return now.Status == words[a.truth.Status] && sorted(sv.t, a.c.json()) == shown(sv.t, a.truth, now.FirstMessage)
}

// rest ends everything that still goes on in the sessions.
func (s *soak) rest() {
	for _, id := range s.ids {
		eventually(s.sv.t, id+" rests", func() bool {
			st := s.sv.truth(id)
			if st.Turn == nil && len(st.Queue) == 0 {
				return true
			}
			_, err := s.sv.k.Do(context.Background(), harness.SessionID(id), harness.Cancel{})
			if err != nil && !errors.Is(err, harness.ErrNotRunning) {
				s.sv.t.Errorf("cancel: %v", err)
			}
			return false
		})
	}
}

// Whatever clients do, at the end each sees what the log of its session says,
// and after Shutdown nothing is left.
func TestSoak(t *testing.T) {
	length := time.Second
	if os.Getenv("LONG") != "" {
		length = 2 * time.Minute
	}
	base := runtime.NumGoroutine()
	sv := serveOn(t, memory.New(), soakScript, &kernel.Options{IdleAfter: time.Millisecond, TailEvents: 16, SnapshotEvery: 32},
		&delta.Options{Beat: 3 * time.Millisecond, Window: 2 * time.Millisecond, Socket: socket.Options{StallAfter: -1}}) // the lazy ones read at last
	s := &soak{sv: sv}
	for range 6 {
		s.ids = append(s.ids, sv.create(""))
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	seed := uint64(time.Now().UnixNano())
	var wg sync.WaitGroup
	actors := make([]*actor, 12)
	for i := range actors {
		a := &actor{s: s, rnd: rand.New(rand.NewPCG(seed, uint64(i))), home: s.ids[i%len(s.ids)]}
		actors[i] = a
		wg.Go(func() {
			if err := a.act(ctx); err != nil {
				t.Errorf("seed %d, client %d: %v\nframes %v", seed, i, err, lasting(a.c.kinds))
			}
		})
	}
	lazy := make([]*raw, 6)
	for i := range lazy {
		lazy[i] = sv.raw("?sessionId="+s.ids[i], 64<<10)
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	s.rest()
	for i, r := range lazy {
		actors = append(actors, &actor{s: s, r: r, c: r.client(), home: s.ids[i]})
	}
	blocked := sv.hub.Blocked()
	for i, a := range actors {
		a.r.nc.SetDeadline(time.Now().Add(6*patience + length)) // the kernel asks a window that was shut so long only as seldom
		wg.Go(func() {
			if err := a.read(func() bool { return a.settled(sv) }); err != nil {
				st := sv.truth(a.c.state().SessionID)
				got, want := sorted(t, a.c.json()), shown(t, st, a.c.state().FirstMessage)
				t.Errorf("seed %d, client %d at %d of %d: %v: %s\nthe log says %s\nframes %v", seed, i, a.c.seq, st.Seq, err, around(got, want), around(want, got), lasting(a.c.kinds))
			}
		})
	}
	wg.Wait()
	t.Logf("%d commands, %d moves, %d resumes with since, %d clients blocked at the end", s.commands.Load(), s.moves.Load(), s.resumed.Load(), blocked)
	for _, a := range actors {
		a.r.nc.Close()
	}
	eventually(t, "rooms are gone", func() bool { return sv.hub.Rooms() == 0 && sv.hub.Clients() == 0 })
	sv.close()
	eventually(t, "nothing runs", func() bool { return runtime.NumGoroutine() <= base })
}
