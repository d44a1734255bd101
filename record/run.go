package record

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"harness"
)

// maxOutput bounds the final output: the longest answer of any model, and more.
const maxOutput = 4 << 20

// run is what is heard of one attempt at a turn.
type run struct {
	turn  harness.Turn
	began time.Time

	mu     sync.Mutex // guards what follows
	item   harness.ItemID
	answer strings.Builder // the words since the last call
	over   bool            // the next word begins another answer
	result string          // in the engine's own words, if it has some
	calls  map[string]int
	failed int
	steps  int
	graph  graph
	usage  *harness.Usage
}

func newRun(t harness.Turn) *run {
	return &run{turn: t, began: time.Now().UTC(), calls: map[string]int{}}
}

func (r *run) hear(p harness.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch p := p.(type) {
	case *harness.Token:
		r.speak(p.ItemID, p.Text, false)
	case *harness.Response:
		r.speak(p.ItemID, p.Text, true)
	case *harness.Completed:
		r.result = p.Result
	case *harness.ToolCall:
		r.calls[p.Name]++
		r.over = true
	case *harness.ToolOutcome:
		if p.Status != harness.OutcomeOK && p.Status != harness.OutcomeArtifact {
			r.failed++
		}
	case *harness.Artifact:
		r.graph.own = r.graph.own || p.ArtifactType == harness.ArtifactTaskGraph
	case *harness.StepProgress:
		r.graph.hear(p)
		if p.Status == "completed" {
			r.steps++
		}
	case *harness.Usage:
		r.usage = new(*p)
	}
}

// speak adds words to the answer; whole ones replace it.
func (r *run) speak(item harness.ItemID, text string, whole bool) {
	if whole || r.over || item != "" && item != r.item {
		r.answer.Reset()
	}
	r.over = false
	if item != "" {
		r.item = item
	}
	if r.answer.Len()+len(text) <= maxOutput {
		r.answer.WriteString(text)
	}
}

// workspace is where the session works. It is the same at each turn.
func (r *run) workspace() *harness.Artifact {
	return made(r.turn.Session, harness.ArtifactWorkspace, "workspace "+r.turn.Directory, struct {
		SessionID harness.SessionID `json:"session_id"`
		Directory string            `json:"directory"`
	}{r.turn.Session, r.turn.Directory})
}

// output is the last thing that was said.
func (r *run) output() *harness.Artifact {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.result
	if text == "" {
		text = r.answer.String()
	}
	if text == "" {
		return nil
	}
	return harness.NewArtifact(r.turn.Session, harness.ArtifactFinalOutput, "final output", []byte(text))
}

// record is what the attempt came to.
func (r *run) record(status string, err error) *harness.Artifact {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := struct {
		SessionID     harness.SessionID `json:"session_id"`
		TurnID        harness.TurnID    `json:"turn_id"`
		Attempt       int               `json:"attempt"`
		Model         string            `json:"model,omitempty"`
		Status        string            `json:"status"`
		Retryable     bool              `json:"retryable,omitempty"`
		StartedAt     time.Time         `json:"started_at"`
		EndedAt       time.Time         `json:"ended_at"`
		ToolCalls     map[string]int    `json:"tool_calls"`
		Failed        int               `json:"failed_tool_calls"`
		StepsDone     int               `json:"steps_completed,omitempty"`
		InputTokens   int64             `json:"input_tokens"`
		OutputTokens  int64             `json:"output_tokens"`
		CostUSD       *float64          `json:"cost_usd"`
		FollowedAgain bool              `json:"outlived_the_server,omitempty"`
	}{
		SessionID: r.turn.Session, TurnID: r.turn.ID, Attempt: r.turn.Attempt, Model: r.turn.Config.Model, Status: status, Retryable: errors.Is(err, harness.ErrRetry),
		StartedAt: r.began, EndedAt: time.Now().UTC(), ToolCalls: r.calls, Failed: r.failed, StepsDone: r.steps, FollowedAgain: r.turn.Attached != 0,
	}
	if u := r.usage; u != nil {
		v.InputTokens, v.OutputTokens, v.CostUSD = u.InputTokens, u.OutputTokens, u.CostUSD
		if u.Model != "" {
			v.Model = u.Model
		}
	}
	return made(r.turn.Session, harness.ArtifactRunRecord, "run of "+string(r.turn.ID), v)
}

func made(id harness.SessionID, kind, title string, v any) *harness.Artifact {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("record: " + err.Error()) // it is made of strings and numbers
	}
	return harness.NewArtifact(id, kind, title, append(text, '\n'))
}
