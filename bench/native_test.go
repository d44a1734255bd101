package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness/engine/agenttest"
	"harness/model/modeltest"
)

// nativeCalls is how many calls the longer of the two turns makes.
const nativeCalls = 10

// nativeScript is the same work for every agent, by the name of its shell: a turn
// that says a word, and one that runs a command ten times, one after the other.
func nativeScript() string {
	var b strings.Builder
	for _, t := range []struct{ tool, args string }{{"bash", `{"command":"true %d"}`}, {"exec_command", `{"cmd":"true %d"}`}, {"Bash", `{"command":"true %d"}`}} {
		for i := range nativeCalls {
			fmt.Fprintf(&b, "when user \"[[ten]]\" and step %d and tool %s\n  call %s %s\n", i+1, t.tool, t.tool, fmt.Sprintf(t.args, i)) // alike, they would be going in circles
		}
	}
	return b.String() + "else\n  say Done.\n"
}

// turnCost is what a turn costs an agent: medians, of the agent's own process.
type turnCost struct {
	name       string
	wall, cpu  time.Duration // a turn without calls
	tenW, tenC time.Duration // one with ten
}

// perCall is what a call adds, with its request to the model and its process.
func (l turnCost) perCall() time.Duration { return (l.tenW - l.wall) / nativeCalls }

// driver runs turns of one agent.
type driver struct {
	name string
	turn func(prompt string)
	cpu  func() time.Duration
}

// measureLoop takes turns in turns, so that what else the machine does hits all.
func measureLoop(tb testing.TB, drivers []driver) (list []turnCost) {
	rounds := 11
	if long() {
		rounds = 51
	}
	walls, cpus := make([][2][]time.Duration, len(drivers)), make([][2][]time.Duration, len(drivers))
	for round := range rounds + 2 {
		for i, d := range drivers {
			for kind, prompt := range []string{"hello", "[[ten]]"} {
				cpu, began := d.cpu(), time.Now()
				d.turn(prompt)
				if round < 2 { // warm
					continue
				}
				walls[i][kind] = append(walls[i][kind], time.Since(began))
				cpus[i][kind] = append(cpus[i][kind], d.cpu()-cpu)
			}
		}
	}
	for i, d := range drivers {
		list = append(list, turnCost{d.name, median(walls[i][0]), mean(cpus[i][0]), median(walls[i][1]), mean(cpus[i][1])})
	}
	return list
}

// mean is for what is counted in ticks that are longer than what is counted.
func mean(list []time.Duration) (sum time.Duration) {
	for _, d := range list {
		sum += d
	}
	return sum / time.Duration(len(list))
}

// BenchmarkNativeTurn is the same scripted turn by our own loop, by codex and by
// claude, beside the floor: the same number of requests to the same server by a
// plain client. All run their commands without a sandbox, but for boxed: that is
// ours as it comes, with bubblewrap around every command. What is not installed
// is left out, and the log says so.
func BenchmarkNativeTurn(b *testing.B) {
	server := modeltest.Serve(b, nativeScript())
	drivers := []driver{floorDriver(b, server)}
	drivers = append(drivers, oursDriver(b, server, "ours", "local"))
	if _, err := exec.LookPath("bwrap"); err == nil {
		drivers = append(drivers, oursDriver(b, server, "boxed", "bwrap"))
	} else {
		b.Log("without our default sandbox: " + err.Error())
	}
	if d, why := codexDriver(b, server); why == "" {
		drivers = append(drivers, d)
	} else {
		b.Log("without codex: " + why)
	}
	if d, why := claudeDriver(b, server); why == "" {
		drivers = append(drivers, d)
	} else {
		b.Log("without claude: " + why)
	}
	list := measureLoop(b, drivers)
	floor, ours := list[0], list[1]
	b.ReportMetric(0, "ns/op")
	for _, l := range list {
		b.ReportMetric(ms(l.wall), l.name+"-turn-ms")
		b.ReportMetric(ms(l.perCall()), l.name+"-call-ms")
		b.ReportMetric(ms(l.cpu), l.name+"-turn-cpu-ms")
		b.ReportMetric(ms(l.tenC), l.name+"-ten-cpu-ms")
		b.Logf("%-7s turn %7.2f ms (%.2f cpu), ten calls %8.2f ms (%.2f cpu), a call %6.2f ms; over the floor: turn %+.2f ms, call %+.2f ms; of ours: turn ×%.2f, call ×%.2f, cpu ×%.2f",
			l.name, ms(l.wall), ms(l.cpu), ms(l.tenW), ms(l.tenC), ms(l.perCall()), ms(l.wall-floor.wall), ms(l.perCall()-floor.perCall()),
			ratio(l.wall, ours.wall), ratio(l.perCall(), ours.perCall()), ratio(l.tenC, ours.tenC))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// floorDriver asks the server as often as an agent does, and reads its answers.
func floorDriver(tb testing.TB, server *modeltest.Server) driver {
	post := func(body string) {
		r, err := http.Post(server.URL+"/v1/messages", "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			tb.Fatal(err)
		}
		defer r.Body.Close()
		if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
			tb.Fatalf("%s: %v", r.Status, err)
		}
	}
	return driver{"floor", func(prompt string) {
		n := 1
		if prompt != "hello" {
			n += nativeCalls
		}
		for range n {
			post(`{"model":"x","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hello"}]}`)
		}
	}, cpuTime}
}

// oursDriver is harness stdio with the native engine.
func oursDriver(tb testing.TB, server *modeltest.Server, name, sandbox string) driver {
	dir := tb.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("sk-bench-0123456789"), 0o600); err != nil {
		tb.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		tb.Fatal(err)
	}
	a := startStdio(tb, buildHarness(tb), work, "--engine", "native", "--model", "anthropic/x", "--key", "anthropic=file:"+key, "--model-url", "anthropic="+server.URL,
		"--sandbox", sandbox, "--snapshots", "off")
	tb.Cleanup(a.end)
	a.send(`{"jsonrpc":"2.0","id":2,"method":"thread.create","params":{}}`)
	var made struct {
		Result struct{ Thread struct{ ThreadID string } }
	}
	if err := json.Unmarshal(a.until(`"id":2,`), &made); err != nil {
		tb.Fatal(err)
	}
	id := made.Result.Thread.ThreadID
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"thread.configure","params":{"threadId":%q,"config":{"permissionMode":"fullAuto"}}}`, id))
	if line := string(a.until(`"id":4,`)); strings.Contains(line, `"error"`) {
		tb.Fatal(line)
	}
	return driver{name, func(prompt string) {
		a.send(stdioTurn(id, prompt))
		for line := ""; !strings.Contains(line, `"turn.completed"`); {
			if line = string(a.until(`"method":"turn.`)); strings.Contains(line, `"turn.error"`) {
				tb.Fatal(line)
			}
		}
	}, a.cpu}
}

// codexDriver is codex app-server.
func codexDriver(tb testing.TB, server *modeltest.Server) (driver, string) {
	bin, err := agenttest.Find(agenttest.Codex)
	if err != nil {
		return driver{}, err.Error()
	}
	dir := codexHome(tb, server.URL)
	config := filepath.Join(dir, "home", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(config, bytes.Replace(text, []byte("read-only"), []byte("danger-full-access"), 1), 0o644); err != nil {
		tb.Fatal(err)
	}
	a := startCodex(tb, bin, dir)
	tb.Cleanup(a.end)
	id := codexThread(a)
	return driver{"codex", func(prompt string) {
		a.send(codexTurn(id, prompt))
		a.until(`"turn/completed"`)
	}, a.cpu}, ""
}

// claudeDriver is Claude Code, which reads prompts from its input.
func claudeDriver(tb testing.TB, server *modeltest.Server) (driver, string) {
	bin, err := agenttest.Find(agenttest.Claude)
	if err != nil {
		return driver{}, err.Error()
	}
	dir := tb.TempDir()
	a := startAgent(tb, dir, []string{
		"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=sk-bench-0123456789", "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, ".claude"),
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}, bin, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash")
	tb.Cleanup(a.end)
	return driver{"claude", func(prompt string) {
		a.send(fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":%q}]}}`, prompt))
		a.wait()
		for !bytes.Contains(a.line(), []byte(`"type":"result"`)) { // which may stand anywhere in it
		}
	}, a.cpu}, ""
}
