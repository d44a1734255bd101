package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/gateway"
	"harness/internal/redact"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// gated is what asking who everybody is, keeping secrets out and writing down
// who did what leave of the throughput: with all that, divided by without.
type gated struct {
	deltas   versus // per CPU
	seconds  versus // deltas per second
	bytes    versus // deltas per allocated byte
	frames   versus // deltas per frame
	commands versus // per CPU
}

// guest is who watches and commands behind the gate: somebody whose every verb
// is looked up, because it is no admin.
const guest = "ada"

// hiding is a redactor as a kernel knows it.
type hiding struct{ *redact.Redactor }

func (h hiding) Stream() kernel.TextStream { return h.Redactor.Stream() }

// logOnly is a store without snapshots: whether one is made within a round or
// beside it is chance, and would be a fifth of the round.
type logOnly struct{ harness.Store }

// serveGated is serve with all of the gateway before it, and the token of the
// guest.
func serveGated(tb testing.TB, e harness.Engine) (*server, string) {
	tb.Helper()
	dir := tb.TempDir()
	token, err := gateway.AddToken(dir, gateway.Token{Name: guest, User: guest, Role: harness.Operator})
	if err != nil {
		tb.Fatal(err)
	}
	tokens, err := gateway.OpenTokens(dir, nil)
	if err != nil {
		tb.Fatal(err)
	}
	hidden, err := redact.New("a-secret-of-the-benchmark")
	if err != nil {
		tb.Fatal(err)
	}
	s := &server{k: kernel.New(logOnly{memory.New()}, map[string]harness.Engine{"bench": e}, &kernel.Options{Engine: "bench", Window: -1, IdleAfter: time.Hour, Redact: hiding{hidden}})}
	lines := func() *slog.Logger { return slog.New(hidden.Handler(slog.NewJSONHandler(io.Discard, nil))) }
	audit := gateway.AuditTo(lines(), hidden.String)
	gate := gateway.New(s.k, &gateway.Options{Audit: audit, Quotas: gateway.Quotas{CommandBurst: 1 << 40}})
	do := delta.Options{Window: -1}
	do.Socket.StallAfter = -1
	if s.hub, err = delta.New(gate, &do); err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	names, err := gateway.NewNames(l.Addr(), false)
	if err != nil {
		tb.Fatal(err)
	}
	edge := gateway.NewEdge(names, gateway.NewAuth(names, gateway.AuthOptions{Tokens: tokens}), &gateway.EdgeOptions{Access: lines(), Audit: audit, Clean: hidden.String})
	edge.Handle(gateway.Route{Pattern: "GET /ws"}, s.hub)
	s.http, s.addr = edge.Server(slog.New(slog.DiscardHandler)), l.Addr().String()
	s.wg.Go(func() { s.http.Serve(l) })
	return s, token
}

// side is one of the servers with its crowd and its commander. A CPU profile of
// the whole run has its name as the label "side".
type side struct {
	*pourer
	client *client
}

func startSide(tb testing.TB, name string, watchers int, behind bool) (s *side) {
	tb.Helper()
	pprof.Do(context.Background(), pprof.Labels("side", name), func(ctx context.Context) {
		p := &pourer{tap: newFaucet(), watchers: watchers}
		token := ""
		if behind {
			p.server, token = serveGated(tb, p.tap)
		} else {
			do := delta.Options{Window: -1}
			do.Socket.StallAfter = -1
			p.server = mustServe(tb, logOnly{memory.New()}, p.tap, kernel.Options{Window: -1, IdleAfter: time.Hour}, do)
		}
		for _, id := range []harness.SessionID{"ses_fan", "ses_cmd"} {
			if _, err := p.k.Create(ctx, harness.NewSession{ID: id, User: guest}); err != nil {
				tb.Fatal(err)
			}
		}
		p.submit(tb, "ses_fan", "pour")
		p.crowd = startChild(tb, "crowd")
		p.crowd.ask(ask{Do: "dial", Addr: p.addr, Path: "/ws?sessionId=ses_fan", Token: token, N: watchers, Kind: "harness"})
		p.crowd.ask(ask{Do: "states", Total: int64(watchers)})
		s = &side{p, dialAs(tb, p.addr, "/ws?sessionId=ses_cmd", token)}
		s.client.frame()
	})
	return s
}

// command sends n commands, a frame of 32 at a time, each as cheap as one can
// be: there is no turn to cancel. It returns the CPU of server and client for
// one, in ns.
func (s *side) command(n int) float64 {
	const batch = 32
	text := `{"type":"commands","commands":[` + strings.TrimSuffix(strings.Repeat(`{"type":"cancel"},`, batch), ",") + `]}`
	began := cpuTime()
	for range n / batch {
		s.client.send(text)
		for range batch {
			s.client.frame()
		}
	}
	return float64(cpuTime()-began) / float64(n/batch*batch)
}

// again begins another turn, so that no text is ever long.
func (s *side) again(tb testing.TB) {
	s.tap.end()
	until(tb, func() bool { // the last has ended
		_, err := s.k.Do(context.Background(), "ses_fan", harness.Submit{Parts: harness.TextPart("pour"), Source: harness.FromResume})
		return err == nil
	})
}

func (s *side) close() {
	s.client.close()
	s.pourer.close()
}

// measureGated has three servers in one process, two of them the same, work in
// turn, many short rounds: first, gated, second, second, gated, first. Whatever
// else the machine does meets all of them; what counts is the median cycle. One
// thread runs them, and nothing is collected meanwhile: how many deltas share a
// frame would otherwise depend on the scheduler, and differ by a tenth between
// equals. What collecting costs is told by the allocated bytes.
func measureGated(tb testing.TB, watchers int) (g gated) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	sets := 1
	if long() {
		sets = 4
	}
	for range sets { // with servers of their own: a log without snapshots is not to be long
		g.measure(tb, watchers, 160)
	}
	return g
}

// measure adds so many cycles.
func (g *gated) measure(tb testing.TB, watchers, cycles int) {
	var sides [3]*side
	for i, name := range []string{"first", "gated", "second"} {
		sides[i] = startSide(tb, name, watchers, name == "gated")
		defer sides[i].close()
	}
	const warm = 4
	for i := range cycles + warm {
		var cpu, wall, bytes, frames, command [3]float64
		for j := range 6 {
			n := (min(j, 5-j) + i) % 3 // nobody is always at the edge
			s := sides[n]
			s.again(tb)
			s.round(tb, 100)
			before := allocated()
			r := s.round(tb, 1000)
			bytes[n] += allocated() - before
			cpu[n], wall[n], frames[n] = cpu[n]+r.cpu, wall[n]+1/r.deltas, frames[n]+r.frames/r.deltas
			command[n] += s.command(640)
		}
		if i%4 == 0 {
			runtime.GC()
		}
		if i < warm {
			continue
		}
		for _, of := range []struct {
			v    *versus
			cost [3]float64
		}{{&g.deltas, cpu}, {&g.seconds, wall}, {&g.bytes, bytes}, {&g.frames, frames}, {&g.commands, command}} {
			of.v.add(cycle{of.cost[0], of.cost[1], of.cost[2]})
		}
	}
}

// allocated is how many bytes this process has allocated so far.
func allocated() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.TotalAlloc)
}

// BenchmarkGate is that for so many watchers: what the gate costs a delta is paid
// once, so the fewer get it, the more of it is seen.
func BenchmarkGate(b *testing.B) {
	for _, watchers := range []int{10, 100} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			g := gateds.get(b, watchers, measureGated)
			b.ReportMetric(0, "ns/op")
			g.deltas.report(b, "deltas")
			g.seconds.report(b, "deltas-per-s")
			g.bytes.report(b, "deltas-per-byte")
			g.frames.report(b, "deltas-per-frame")
			g.commands.report(b, "commands")
		})
	}
}
