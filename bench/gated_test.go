package bench

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"harness"
	"harness/gateway"
	"harness/internal/redact"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/memory"
)

// gated is what asking who everybody is leaves of the throughput per CPU: with
// the gateway, divided by without. Time would say the same on a machine that
// does nothing else.
type gated struct {
	deltas   float64
	commands float64
}

// guest is who watches and commands behind the gate: somebody whose every verb
// is looked up, because it is no admin.
const guest = "ada"

// hiding is a redactor as a kernel knows it.
type hiding struct{ *redact.Redactor }

func (h hiding) Stream() kernel.TextStream { return h.Redactor.Stream() }

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
	s := &server{k: kernel.New(memory.New(), map[string]harness.Engine{"bench": e}, &kernel.Options{Engine: "bench", Window: -1, Redact: hiding{hidden}})}
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

// side is one of the two servers with its crowd and its commander.
type side struct {
	*pourer
	client *client
}

func startSide(tb testing.TB, watchers int, behind bool) *side {
	tb.Helper()
	var p *pourer
	token := ""
	if behind {
		p = &pourer{tap: newFaucet(), watchers: watchers}
		p.server, token = serveGated(tb, p.tap)
	} else {
		p = &pourer{tap: newFaucet(), watchers: watchers}
		do := delta.Options{Window: -1}
		do.Socket.StallAfter = -1
		p.server = mustServe(tb, memory.New(), p.tap, kernel.Options{Window: -1}, do)
	}
	for _, id := range []harness.SessionID{"ses_fan", "ses_cmd"} {
		if _, err := p.k.Create(context.Background(), harness.NewSession{ID: id, User: guest}); err != nil {
			tb.Fatal(err)
		}
	}
	p.submit(tb, "ses_fan", "pour")
	p.crowd = startChild(tb, "crowd")
	p.crowd.ask(ask{Do: "dial", Addr: p.addr, Path: "/ws?sessionId=ses_fan", Token: token, N: watchers, Kind: "harness"})
	p.crowd.ask(ask{Do: "states", Total: int64(watchers)})
	s := &side{p, dialAs(tb, p.addr, "/ws?sessionId=ses_cmd", token)}
	s.client.frame()
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

func (s *side) close() {
	s.client.close()
	s.pourer.close()
}

// measureGated runs both in turn, many short rounds, and takes the median of
// the quotients of neighbours: what else the machine does meets both.
func measureGated(tb testing.TB, _ struct{}) gated {
	rounds := 121
	if long() {
		rounds = 401
	}
	without, with := startSide(tb, 100, false), startSide(tb, 100, true)
	defer without.close()
	defer with.close()
	var deltas, commands []float64
	for i := range rounds + 2 {
		first, second := without, with
		if i%2 == 1 { // who comes first is not always the same
			first, second = with, without
		}
		a, b := first.round(tb, 2000).cpu, second.round(tb, 2000).cpu
		c, d := first.command(3200), second.command(3200)
		if i%2 == 1 {
			a, b, c, d = b, a, d, c
		}
		if i >= 2 { // the first warm up
			deltas, commands = append(deltas, a/b), append(commands, c/d)
		}
	}
	return gated{median(deltas), median(commands)}
}

func BenchmarkGate(b *testing.B) {
	g := gateds.get(b, struct{}{}, measureGated)
	for b.Loop() {
	}
	b.ReportMetric(g.deltas, "deltas/without")
	b.ReportMetric(g.commands, "commands/without")
}
