package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"harness"
)

// server is the flag that says which running server is meant.
func (f *flags) server() *string {
	return f.String("connect", "", "`URL` of the running server; without it that of the data directory")
}

// serverAt finds a running server.
func (p *program) serverAt(address string) (remote, error) {
	if address != "" {
		return p.remote(address)
	}
	if near, ok := p.nearby(); ok {
		return near, nil
	}
	return remote{}, harness.ErrUnavailable.Saying("no server runs; start one with harness serve, or name it with --connect")
}

// startSession has a session of a running server work by itself.
func startSession(ctx context.Context, p *program, args []string) error {
	f := p.flags("sessions start", "[flags] PROMPT", "Have a session of a running server work by itself. It waits in line for its turn, and goes on\n"+
		"when the server is restarted. It works in a worktree of the directory's repository, or in a copy: see docs/workspaces.md.\nPrints the session; harness attach SESSION looks at it. The prompt - is read from standard input.",
		`harness sessions start "Fix the flaky test"`,
		`harness sessions start --cwd ~/project --max-retries 2 --expires 8h --permission-mode accept_edits "Update the dependencies"`)
	cwd := f.String("cwd", "", "`DIR` that the session works in; without it the server's")
	inPlace := f.Bool("in-place", false, "work in the directory itself, not in a worktree or a copy of it")
	title := f.String("title", "", "the session's `TITLE`")
	model := f.String("model", "", "`MODEL` to use")
	mode := f.String("permission-mode", "", "what is asked about (`MODE`): normal, accept_edits or full_auto")
	retries := f.Int("max-retries", 0, "try again up to `N` times what fails for a while only")
	expires := f.Duration("expires", 0, "do not begin, or try again, after this time; 0 is no such time")
	where := f.server()
	if err := f.parse(args, 1, -1); err != nil {
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
	if *expires < 0 || *retries < 0 {
		return f.mistake("--expires and --max-retries cannot be negative")
	}
	if strings.TrimSpace(prompt) == "" {
		return f.mistake("the prompt is empty")
	}
	body := map[string]any{"prompt": prompt, "max_retries": *retries}
	for name, value := range map[string]string{"title": *title, "model": *model, "permission_mode": *mode} {
		if value != "" {
			body[name] = value
		}
	}
	if *cwd != "" {
		dir, err := directory(*cwd)
		if err != nil {
			return err
		}
		body["workspace"] = dir
	}
	if *inPlace {
		body["isolated"] = false
	}
	if *expires > 0 {
		body["expires_at"] = time.Now().Add(*expires).UTC().Format(time.RFC3339Nano)
	}
	r, err := p.serverAt(*where)
	if err != nil {
		return err
	}
	var made struct {
		SessionID     string `json:"session_id"`
		Directory     string `json:"directory"`
		QueuePosition int    `json:"queue_position"`
	}
	if err := r.send(ctx, "POST", "/sessions", body, &made); err != nil {
		return fmt.Errorf("%s: %w", r.url, err)
	}
	fmt.Fprintln(p.stdout, clean(made.SessionID, harness.MaxID))
	if !*inPlace {
		fmt.Fprintf(p.stderr, "working in %s\n", visible(made.Directory))
	}
	if made.QueuePosition > 0 {
		fmt.Fprintf(p.stderr, "number %d in line\n", made.QueuePosition)
	}
	return nil
}

// steerSession is one of the verbs that a server does to a session.
func steerSession(verb string) func(ctx context.Context, p *program, args []string) error {
	about := map[string]string{
		"pause":  "Hold a session of a running server: before its next turn, or between two calls of tools if it works by itself.",
		"resume": "Let a session of a running server go on that is paused, or that worked by itself and failed or was cancelled.",
		"cancel": "End what a session of a running server does, or waits to do.",
	}
	return func(ctx context.Context, p *program, args []string) error {
		f := p.flags("sessions "+verb, "[flags] SESSION", about[verb], "harness sessions "+verb+" ses_01…")
		where := f.server()
		if err := f.parse(args, 1, 1); err != nil {
			return err
		}
		id, err := harness.ParseSessionID(f.args[0])
		if err != nil {
			return err
		}
		r, err := p.serverAt(*where)
		if err != nil {
			return err
		}
		if err := r.send(ctx, "POST", "/sessions/"+string(id)+"/"+verb, map[string]any{}, &struct{}{}); err != nil {
			return fmt.Errorf("%s: %w", r.url, err)
		}
		var now whereabouts
		if err := r.ask(ctx, "GET", "/sessions/"+string(id), &now); err != nil {
			return fmt.Errorf("%s: %w", r.url, err)
		}
		fmt.Fprintln(p.stdout, now.after(verb))
		return nil
	}
}

// whereabouts is where a session stands.
type whereabouts struct {
	Kind    harness.Kind   `json:"kind"`
	Status  harness.Status `json:"status"`
	Pending int            `json:"pending_approvals"`
}

// after says what a verb has come to, or will.
func (s whereabouts) after(verb string) string {
	later := "the session pauses when the turn has ended"
	if s.Kind == harness.Background {
		later = "the session pauses behind the call that runs"
	}
	switch {
	case verb != "pause" || s.Status.Terminal():
		return string(s.Status)
	case s.Status == harness.Paused && s.Pending > 0:
		return "paused; an approval waits, and what it is about is not done before the session is resumed"
	case s.Status == harness.Paused:
		return "paused"
	case s.Status == harness.AwaitingApproval && s.Kind == harness.Background:
		return "awaiting_approval; the session pauses when that is answered and the call is done"
	case s.Status == harness.AwaitingApproval:
		return "awaiting_approval; " + later
	}
	return string(s.Status) + "; " + later
}
