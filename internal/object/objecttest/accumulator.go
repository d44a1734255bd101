package objecttest

// Accumulator is the state of one JavaScript client. It starts as null.
type Accumulator struct {
	p   *Process
	id  int
	gen Generation
}

// Generation returns the generation of a.
func (a *Accumulator) Generation() Generation { return a.gen }

// New returns an accumulator of the newest generation.
func (p *Process) New(strict bool) *Accumulator {
	p.tb.Helper()
	return p.NewGeneration(C, strict)
}

// NewGeneration returns an accumulator of generation g. Only C can be lax.
func (p *Process) NewGeneration(g Generation, strict bool) *Accumulator {
	p.tb.Helper()
	p.mu.Lock()
	p.made++
	id := p.made
	p.mu.Unlock()
	if _, err := p.ask(map[string]any{"new": id, "generation": g, "strict": strict}); err != nil {
		p.tb.Fatalf("new accumulator: %v", err)
	}
	return &Accumulator{p: p, id: id, gen: g}
}

// Apply applies a JSON array of operations, or what a whole message
// {"type":"delta"|"state",…} asks for. The error is what JavaScript threw.
func (a *Accumulator) Apply(frame []byte) error {
	a.p.tb.Helper()
	_, err := a.p.ask(map[string]any{"apply": a.id, "frame": string(frame)})
	return err
}

// State returns the state as JavaScript writes it. Compare it with
// Process.Normal of ours.
func (a *Accumulator) State() []byte {
	a.p.tb.Helper()
	state, err := a.p.ask(map[string]any{"state": a.id})
	if err != nil {
		a.p.tb.Fatalf("state: %v", err)
	}
	return state
}

// Close lets node forget the accumulator. Tests that make few need not call it.
func (a *Accumulator) Close() {
	a.p.tb.Helper()
	if _, err := a.p.ask(map[string]any{"drop": a.id}); err != nil {
		a.p.tb.Fatalf("drop: %v", err)
	}
}
