package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness/internal/object"
)

// killScript asks, or talks in many small pieces.
const killScript = `when ask
  say I ask.
  ask bash {"command":"x"} access=execute "Run it" => ran
  say " Done."
else
  repeat 30
    say "word "
  end
end
`

// witness is a client that trusts only acknowledgements, and remembers over
// all lives of the server what it was told.
type witness struct {
	t     testing.TB
	user  string
	roams bool // from node to node, of which one may be a moment behind another

	mu       sync.Mutex        // guards what follows
	sent     map[string]string // commandId → prompt, not yet acknowledged
	acked    map[string]string
	last     []string          // the latest of acked
	refused  map[string]bool   // prompts that found the queue full
	answers  map[string]string // commandId → tool call, not yet acknowledged
	decided  map[string]bool   // tool calls whose approval was acknowledged
	pending  map[string]bool   // tool calls seen waiting, and not answered by us
	contents map[string]string // message id → text seen
	seq      uint64
	n        int
}

func newWitness(t testing.TB, user string) *witness {
	return &witness{
		t: t, user: user, sent: map[string]string{}, acked: map[string]string{}, refused: map[string]bool{}, answers: map[string]string{},
		decided: map[string]bool{}, pending: map[string]bool{}, contents: map[string]string{},
	}
}

// seen is the state of S1 as far as it is looked at.
type seen struct {
	Status    string
	SessionID string
	Error     string
	Messages  []struct{ ID, Role, Content, Status string }

	PendingApprovals []struct{ ToolCallID string }
}

// check compares a fresh state with everything that was promised before.
func (w *witness) check(s seen, seq uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seq < w.seq {
		return fmt.Errorf("the log ends at %d, %d was shown", seq, w.seq)
	}
	prompts := map[string]int{}
	contents := map[string]string{}
	for _, m := range s.Messages {
		if m.Role == "user" {
			prompts[m.Content]++
		}
		if _, twice := contents[m.ID]; twice {
			return fmt.Errorf("message %s is there twice", m.ID)
		}
		contents[m.ID] = m.Content
	}
	for id, p := range w.acked {
		if prompts[p] != 1 {
			return fmt.Errorf("prompt %q was acknowledged as %s and is there %d times", p, id, prompts[p])
		}
	}
	for p, n := range prompts {
		if w.refused[p] {
			return fmt.Errorf("prompt %q was refused and is there", p)
		}
		if n > 1 {
			return fmt.Errorf("prompt %q is there %d times", p, n)
		}
	}
	for id, text := range w.contents {
		if got, ok := contents[id]; !ok || !strings.HasPrefix(got, text) {
			return fmt.Errorf("message %s was shown as %q and is now %q", id, text, got)
		}
	}
	waiting := map[string]bool{}
	for _, a := range s.PendingApprovals {
		waiting[a.ToolCallID] = true
		if w.decided[a.ToolCallID] {
			return fmt.Errorf("approval of %s was acknowledged and is pending again", a.ToolCallID)
		}
	}
	for call := range w.pending {
		if !waiting[call] {
			return fmt.Errorf("approval of %s was pending and is forgotten", call)
		}
	}
	return nil
}

// live talks to one life of the server until the connection breaks. told is
// called for every frame.
func (w *witness) live(p *process, rng *rand.Rand, told func(frame)) {
	c, err := p.dial("?userId=" + w.user)
	if err != nil {
		return
	}
	defer c.ws.CloseNow()
	var tree object.Tree
	first := true
	for {
		f, err := c.read()
		if err != nil {
			return
		}
		if !w.take(c, &tree, f, &first, rng) {
			return
		}
		told(f)
	}
}

// take handles one frame and reports whether to go on.
func (w *witness) take(c *conn, tree *object.Tree, f frame, first *bool, rng *rand.Rand) bool {
	switch f.Type {
	case "state":
		if err := tree.Apply([]object.Op{{Kind: object.Set, Path: []string{}, Value: f.State}}); err != nil {
			w.t.Errorf("%s: %v", w.user, err)
			return false
		}
	case "delta":
		if err := apply(tree, f); err != nil {
			w.t.Errorf("%s: %v", w.user, err)
			return false
		}
	case "ack":
		w.acknowledged(f.CommandID)
		w.mu.Lock()
		w.seq = max(w.seq, f.Seq)
		w.mu.Unlock()
		return true
	case "error":
		if f.Code == "already_resolved" || f.Code == "approval_not_found" { // an answer of an earlier life took effect
			w.acknowledged(f.CommandID)
			return true
		}
		if f.Code == "queue_full" {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refused[w.sent[f.CommandID]] = true
			delete(w.sent, f.CommandID)
			return true
		}
		w.t.Errorf("%s: %s: %s", w.user, f.Code, f.Message)
		return false
	}
	var s seen
	if err := json.Unmarshal(tree.AppendJSON(nil), &s); err != nil {
		w.t.Errorf("%s: %v", w.user, err)
		return false
	}
	if *first && w.roams && f.Seq < w.shown() {
		return true
	}
	if *first {
		if err := w.check(s, f.Seq); err != nil {
			w.t.Errorf("%s: %v", w.user, err)
			return false
		}
		*first = false
		w.act(c, s, rng, true)
		return true
	}
	w.remember(s, f.Seq)
	if f.Type == "state" || rng.IntN(4) == 0 {
		w.act(c, s, rng, false)
	}
	return true
}

// shown is how far the log was shown.
func (w *witness) shown() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seq
}

func (w *witness) acknowledged(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.sent[id]; ok {
		w.acked[id] = p
		w.last = append(w.last[max(0, len(w.last)-2):], id)
		delete(w.sent, id)
	}
	if call, ok := w.answers[id]; ok {
		w.decided[call] = true
		delete(w.answers, id)
	}
}

func (w *witness) remember(s seen, seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq = max(w.seq, seq)
	for _, m := range s.Messages {
		w.contents[m.ID] = m.Content
	}
	clear(w.pending)
	answered := map[string]bool{}
	for _, call := range w.answers {
		answered[call] = true
	}
	for _, a := range s.PendingApprovals {
		if !answered[a.ToolCallID] && !w.decided[a.ToolCallID] {
			w.pending[a.ToolCallID] = true
		}
	}
}

// act sends something: at first everything that was never acknowledged, and
// some that was, as if the acknowledgement had been lost, under its old id; then
// new prompts and answers.
func (w *witness) act(c *conn, s seen, rng *rand.Rand, again bool) {
	w.mu.Lock()
	var cmds []string
	submit := func(id, prompt string) {
		cmds = append(cmds, fmt.Sprintf(`{"type":"resume","sessionId":"","prompt":%q,"commandId":%q}`, prompt, id))
	}
	if again {
		for id, p := range w.sent {
			submit(id, p)
		}
		for _, id := range w.last {
			submit(id, w.acked[id])
		}
	}
	if len(s.PendingApprovals) > 0 && rng.IntN(3) == 0 {
		call := s.PendingApprovals[0].ToolCallID
		taken := false
		for _, other := range w.answers {
			taken = taken || other == call
		}
		if !taken && !w.decided[call] {
			w.n++
			id := fmt.Sprintf("%s-a%d", w.user, w.n)
			w.answers[id] = call
			delete(w.pending, call)
			cmds = append(cmds, fmt.Sprintf(`{"type":"approve","toolCallId":%q,"commandId":%q}`, call, id))
		}
	}
	if again || len(w.sent) < 3 && s.Status != "awaiting-approval" {
		w.n++
		id, prompt := fmt.Sprintf("%s-p%d", w.user, w.n), fmt.Sprintf("prompt %s %d", w.user, w.n)
		if rng.IntN(3) == 0 {
			prompt += " ask"
		}
		w.sent[id] = prompt
		submit(id, prompt)
	}
	if again {
		for id, call := range w.answers {
			cmds = append(cmds, fmt.Sprintf(`{"type":"approve","toolCallId":%q,"commandId":%q}`, call, id))
		}
	}
	w.mu.Unlock()
	for i := 0; i < len(cmds); i += 60 {
		c.send(strings.ReplaceAll(strings.Join(cmds[i:min(len(cmds), i+60)], ","), `"sessionId":"",`, fmt.Sprintf(`"sessionId":%q,`, c.state.SessionID)))
	}
}

// settle answers every question until the session rests: then every prompt has
// had its turn.
func (w *witness) settle(p *process) {
	w.t.Helper()
	v := p.view("?userId=" + w.user)
	if w.roams {
		v.see("what was shown elsewhere", func(seen) bool { return v.seq >= w.shown() })
	}
	if err := w.check(v.now, v.seq); err != nil {
		w.t.Fatalf("%s: %v", w.user, err)
	}
	for answered := ""; ; {
		s := v.see("rest or a question", func(s seen) bool {
			turns := 0 // more than prompts, if some were tried again
			for _, m := range s.Messages {
				switch m.Role {
				case "user":
					turns--
				case "assistant":
					turns++
				}
			}
			return pending(s) && s.PendingApprovals[0].ToolCallID != answered || turns >= 0 && (s.Status == "idle" || s.Status == "error")
		})
		if !pending(s) {
			return
		}
		answered = s.PendingApprovals[0].ToolCallID
		acked(w.t, v.do(`"type":"approve","toolCallId":%q`, answered))
	}
}

// Whatever moment a server is killed at: nothing acknowledged is lost, nothing
// is doubled, nothing shown is taken back, questions stay answerable, and in
// the end every prompt has its turn.
func TestKill9LosesNothing(t *testing.T) {
	t.Parallel()
	lives := 15
	if os.Getenv("LONG") != "" {
		lives = 500
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "kill.script")
	if err := os.WriteFile(script, []byte(killScript), 0o600); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(lives), 1))
	var witnesses []*witness
	for i := range 4 {
		witnesses = append(witnesses, newWitness(t, fmt.Sprintf("user%d", i)))
	}
	for range lives {
		p := start(t, "--data", dir, "--engine", "script:"+script, "--idle-after", "50ms")
		limit, acks := int64(4+rng.IntN(250)), rng.IntN(3) == 0
		if acks { // just then others are durable and not acknowledged
			limit = int64(1 + rng.IntN(12))
		}
		var frames atomic.Int64
		enough := make(chan struct{})
		told := func(f frame) {
			if (!acks || f.Type == "ack") && frames.Add(1) == limit {
				close(enough)
			}
		}
		var wg sync.WaitGroup
		for _, w := range witnesses {
			r := rand.New(rand.NewPCG(rng.Uint64(), 2))
			wg.Go(func() { w.live(p, r, told) })
		}
		idle := make(chan struct{})
		go func() { wg.Wait(); close(idle) }()
		select {
		case <-enough:
		case <-idle: // a witness objected
		case <-time.After(time.Duration(20+rng.IntN(300)) * time.Millisecond): // all wait for somebody's approval
		}
		p.kill()
		wg.Wait()
		if t.Failed() {
			t.Fatalf("the server said:\n%s", p.errors())
		}
	}
	p := start(t, "--data", dir, "--engine", "script:"+script)
	for _, w := range witnesses {
		w.settle(p)
	}
	prompts, decided := 0, 0
	for _, w := range witnesses {
		prompts += len(w.acked)
		decided += len(w.decided)
	}
	t.Logf("%d lives, %d prompts and %d approvals acknowledged", lives, prompts, decided)
	if prompts == 0 || decided == 0 {
		t.Errorf("nothing was acknowledged, so nothing was tested")
	}
}
