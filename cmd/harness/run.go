package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"harness"
)

// cancelled is the exit code of what a person or a signal broke off.
const cancelled = exitCode(130)

// backend are the flags that say where threads live and what works in them: those
// of the `harness stdio` that is started.
type backend struct {
	cwd, store, connect *string
	f                   *flags
}

func (f *flags) backend() backend {
	b := backend{
		f:     f,
		cwd:   f.String("cwd", ".", "`DIR` that threads work in; its .harness directory keeps them"),
		store: f.String("store", "", "keep threads in this `STORE` instead: jsonl:DIR, sqlite:PATH or memory"),

		connect: f.String("connect", "", "`URL` of a running server to use instead"),
	}
	f.engine()
	f.housing()
	f.secrets()
	f.snapshots()
	f.tasks()
	return b
}

// start starts `harness stdio` with these flags. Those of its own are not among
// them; what the environment says it reads itself.
func (b backend) start(ctx context.Context, own ...string) (*peer, error) {
	return startPeer(ctx, b.f.again(own...)...)
}

// runTurn is one turn for a person at a terminal, or for a pipe.
func runTurn(ctx context.Context, p *program, args []string) error {
	f := p.flags("run", "[flags] PROMPT", "Run one turn and show it as it happens. The prompt - is read from standard input.\n"+
		"Ctrl-C cancels the turn, a second one quits. The exit code is 0 if the turn completed, 1 if it failed, 130 if it was cancelled.",
		`harness run "Run the tests"`,
		`harness run --cwd ~/project --approve all "Run the tests"`,
		"git diff | harness run --json -",
		`harness run --connect http://127.0.0.1:7717 --thread ses_01… "And now?"`)
	b := f.backend()
	approve := f.String("approve", "ask", "what to do when the agent needs permission (`HOW`): ask, never or all")
	asJSON := f.Bool("json", false, "print the notifications of the protocol, one a line, instead")
	thread := f.String("thread", "", "go on with this `THREAD` instead of a new one")
	isolated := f.Bool("isolated", false, "a new thread works in a copy of the directory, or in a worktree of its repository")
	retries := f.Int("retries", 0, "how often a new thread tries a turn again that failed in a way that may pass, or was cut off (`N`)")
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	if !slices.Contains([]string{"ask", "never", "all"}, *approve) {
		return f.mistake(fmt.Sprintf("--approve %q is not one of ask, never, all", *approve))
	}
	if *retries < 0 || *retries > harness.MaxRetries {
		return f.mistake(fmt.Sprintf("--retries %d is not between 0 and %d", *retries, harness.MaxRetries))
	}
	dir, err := directory(*b.cwd)
	if err != nil {
		return err
	}
	prompt := strings.Join(f.args, " ")
	if prompt == "-" {
		text, err := io.ReadAll(io.LimitReader(p.stdin, maxPrompt))
		if err != nil {
			return fmt.Errorf("prompt: %w", err)
		}
		prompt = string(text)
	}
	if strings.TrimSpace(prompt) == "" {
		return f.mistake("the prompt is empty")
	}
	d := newDesk(p, *asJSON)
	defer d.close()
	ctx = context.WithoutCancel(ctx) // signals are ours to deal with
	pe, err := b.start(ctx, "approve", "json", "thread", "retries", "isolated")
	if err != nil {
		return err
	}
	r := &runner{p: p, desk: d, talk: newTalk(pe, d.t), json: *asJSON, prompt: prompt, dir: dir, approve: *approve, retries: *retries, isolated: *isolated, keeps: *b.store != "memory"}
	r.thread, r.answer = *thread, r.permit
	code, err := r.run(ctx)
	pe.close(r.hurry)
	if closing := d.close(); err == nil {
		err = closing
	}
	for _, tool := range r.refused { // behind the transcript, not in the middle of its lines
		fmt.Fprintf(p.stderr, "harness run: rejected %s, because there is no terminal to ask on; see --approve\n", clean(tool, 60))
	}
	if err == nil && code != 0 {
		err = code
	}
	return err
}

// maxPrompt is more than the server takes, so that it is the one who says so.
const maxPrompt = 1 << 20

// runner is one `harness run`.
type runner struct {
	*talk
	p        *program
	desk     *desk
	json     bool
	prompt   string
	dir      string
	keeps    bool // the thread can be gone on with
	approve  string
	retries  int
	isolated bool
	mineID   string   // of the turn
	stopped  bool     // Ctrl-C was pressed
	hurry    bool     // twice
	refused  []string // tools, for want of somebody to ask
	failed   error
}

// run carries the turn through and returns how it ended.
func (r *runner) run(ctx context.Context) (exitCode, error) {
	r.call("initialize", map[string]any{"clientInfo": map[string]string{"name": "harness run", "version": release}}, r.initialized)
	for r.failed == nil {
		if err := r.desk.refresh(time.Now()); err != nil {
			return 1, err
		}
		select {
		case line, ok := <-r.lines:
			if !ok {
				return 1, r.gone()
			}
			if code, ended := r.line(line, time.Now()); ended {
				return code, r.failed
			}
		case key := <-r.desk.keys:
			r.press(key)
		case s := <-r.desk.signals:
			if r.desk.sleep(s) {
				continue
			}
			if s != os.Interrupt || r.interrupt() {
				r.hurry = true
				return cancelled, nil
			}
		case <-r.desk.ticks:
		}
	}
	return 1, r.failed
}

// then is what to do with an answer; a fault ends the run.
func (r *runner) then(f func(result json.RawMessage)) func(json.RawMessage, *fault) {
	return func(result json.RawMessage, fault *fault) {
		if fault != nil {
			r.failed = fault
		} else {
			f(result)
		}
	}
}

func (r *runner) initialized(_ json.RawMessage, f *fault) {
	if f != nil {
		r.failed = f
		return
	}
	if r.thread != "" {
		r.start()
		return
	}
	asked := map[string]any{"directory": r.dir}
	if r.isolated {
		asked["isolated"] = true
	}
	if r.retries > 0 {
		asked["maxRetries"] = r.retries
	}
	r.call("thread.create", asked, r.then(func(result json.RawMessage) {
		var made struct {
			Thread struct{ ThreadID, Directory string }
		}
		if r.failed = json.Unmarshal(result, &made); r.failed == nil {
			r.thread = made.Thread.ThreadID
			if r.isolated {
				fmt.Fprintf(r.p.stderr, "harness run: working in %s\n", visible(made.Thread.Directory))
			}
			r.start()
		}
	}))
}

func (r *runner) start() {
	r.call("turn.start", map[string]any{"threadId": r.thread, "input": textInput(r.prompt)}, r.then(func(result json.RawMessage) {
		var begun struct{ TurnID, ItemID string }
		if r.failed = json.Unmarshal(result, &begun); r.failed == nil {
			r.mineID, r.skip = begun.TurnID, begun.ItemID
		}
	}))
}

// line takes one line of the peer and reports whether our turn has ended.
func (r *runner) line(line []byte, now time.Time) (exitCode, bool) {
	m, err := r.take(line)
	if err != nil || m.Method == "" {
		if err != nil {
			r.failed = err
		}
		return 1, r.failed != nil
	}
	if r.json {
		if _, err := r.p.stdout.Write(line); err != nil {
			r.failed = err
			return 1, true
		}
	}
	end, err := r.hear(m, now)
	if err != nil {
		r.failed = err
		return 1, true
	}
	if end == nil || end.TurnID != r.mineID {
		return 0, false
	}
	return r.ended(end), true
}

// ended says how the turn ended, where there is somebody to read it.
func (r *runner) ended(n *told) exitCode {
	took := elapsed(time.Duration(n.Time.Completed-n.Time.Started) * time.Millisecond)
	code, st, text := exitCode(0), dim, "done in "+took
	switch {
	case n.Status == harness.TurnCancelled:
		code, st, text = cancelled, red, "cancelled after "+took
	case n.Status != harness.TurnCompleted:
		code, st, text = 1, red, "failed after "+took
		if n.Error != "" {
			text += ": " + n.Error
		}
	case n.Usage != nil:
		text += fmt.Sprintf(" · %d tokens in, %d out", n.Usage.InputTokens, n.Usage.OutputTokens)
	}
	switch {
	case r.desk.t.moving:
		r.t.remark(st, text)
		if r.keeps {
			r.t.write(dim, "go on: harness run --thread "+r.thread+" …\n")
		}
	case code != 0:
		r.failed = r.desk.flush()
		fmt.Fprintf(r.p.stderr, "harness run: %s\n", visible(text))
	}
	return code
}

// permit is the answer to a question if nobody needs to be asked.
func (r *runner) permit(q question) (string, bool) {
	switch {
	case r.approve == "all":
		return "once", true
	case r.approve == "never":
		return "reject", true
	case !r.desk.asks:
		r.refused = append(r.refused, q.tool)
		return "reject", true
	}
	return "", false
}

// press is a key of somebody who may be asked.
func (r *runner) press(key rune) {
	if len(r.t.asked) == 0 {
		return
	}
	q := r.t.asked[0]
	if reply, ok := q.reply(key); ok {
		r.decide(q, reply)
	}
}

// interrupt cancels the turn. It reports whether that was asked for before, or
// there is no turn to cancel yet.
func (r *runner) interrupt() bool {
	if r.stopped || r.mineID == "" {
		return true
	}
	r.stopped = true
	r.cancel()
	r.t.note = "cancelling; "
	r.t.hint = "Ctrl-C again quits at once"
	return false
}
