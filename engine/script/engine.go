package script

import (
	"context"
	"fmt"
	"os"
	"sync"

	"harness"
)

// Engine plays a script. It implements [harness.Engine].
type Engine struct {
	script *Script
	lacks  harness.Abilities

	mu    sync.Mutex // guards gates
	gates map[string]chan struct{}
}

// Options are the rest of what an engine can be told. The zero value works.
type Options struct {
	// Lacks names abilities to do without. The engine plays the script as one
	// without them would: it is silent about what it cannot report (tools,
	// thinking), runs calls without asking, leaves what is said to a turn
	// alone, and records no position, so that every turn and every attempt
	// plays the first part from its beginning.
	Lacks harness.Abilities
}

// New makes an engine that plays s.
func New(s *Script, opts *Options) *Engine {
	e := &Engine{script: s, gates: make(map[string]chan struct{})}
	if opts != nil {
		e.lacks = opts.Lacks
	}
	return e
}

// Open reads the script in a file and makes an engine that plays it.
func Open(path string, opts *Options) (*Engine, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	s, err := Parse(string(src))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return New(s, opts), nil
}

// Open lets everything pass that waits, or ever will wait, at the gate.
func (e *Engine) Open(gate string) {
	ch := e.gate(gate)
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// gate is closed when the gate is open.
func (e *Engine) gate(name string) chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	ch := e.gates[name]
	if ch == nil {
		ch = make(chan struct{})
		e.gates[name] = ch
	}
	return ch
}

// Abilities is everything an engine can do, but for what [Options] took away.
func (e *Engine) Abilities() harness.Abilities {
	can := harness.Abilities{
		Tools: !e.lacks.Tools, Steer: !e.lacks.Steer, Resume: !e.lacks.Resume, Thinks: !e.lacks.Thinks,
		Approve: !e.lacks.Approve && !e.lacks.Tools, // there must be a call to ask about
		Tells: []harness.Type{
			"sandbox_notice", "transport_diagnostic", "subagent_event", "turn_start_tools", "tool_selected", "context_warning", "context_compacted",
			"step_progress", "usage", "retrieval", "antahkarana", "artifact", "completed",
		},
	}
	if can.Tools {
		can.Tells = append(can.Tells, "tool_log", "tool_batch", "tool_validation_error")
	}
	if can.Thinks {
		can.Tells = append(can.Tells, "reflection")
	}
	return can
}

// Run plays the turn's part of the script.
func (e *Engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	p := &player{engine: e, host: h, turn: t, can: e.Abilities(), reopened: make(map[harness.CallID]int)}
	err := p.start(ctx)
	if err == nil {
		err = p.play(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
