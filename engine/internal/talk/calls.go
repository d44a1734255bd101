package talk

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"harness"
)

// Calls are the calls of a turn.
type Calls struct {
	Again   Ref // of an earlier attempt at the turn
	Attempt int // at the turn; ids of a program may come again in the next

	all  map[string]*Call // by the program's id
	open []*Call          // without an outcome, in order
	used map[harness.CallID]bool
}

// Call is a call of a tool.
type Call struct {
	ID      harness.CallID // under which the log has it
	Name    string
	Input   json.RawMessage
	Allowed bool // by the session
	Log     int  // how much of its output has been told

	told   bool // the log has it
	closed bool // and how it ended
	denied *string
	begun  time.Time
}

// Find is the call that the program calls by this id, or nil.
func (c *Calls) Find(id string) *Call { return c.all[id] }

// Know remembers a call. If an earlier attempt asked about the same one, it is
// that one. An id that comes again after its call has ended is another call.
func (c *Calls) Know(id, name string, input json.RawMessage) *Call {
	c.begin()
	if known := c.all[id]; known != nil && !known.closed {
		return known
	}
	call := &Call{ID: c.name(id), Name: name, Input: input, begun: time.Now()}
	if before, ok := c.Again.Known(name, input); ok && !c.used[before] {
		call.ID = before
	}
	c.used[call.ID] = true
	c.all[id] = call
	return call
}

func (c *Calls) begin() {
	if c.all == nil {
		c.all, c.used = make(map[string]*Call), make(map[harness.CallID]bool)
	}
}

// maxName leaves room for what is added to a program's id.
const maxName = harness.MaxID - 16

// name makes an id for the log that no other call of the turn has.
func (c *Calls) name(id string) harness.CallID {
	if len(id) > maxName {
		d := harness.Digest(json.RawMessage(strconv.Quote(id)))
		id = id[:maxName-len(d)] + d
	}
	if c.Attempt > 1 {
		id += "@" + strconv.Itoa(c.Attempt)
	}
	name := harness.CallID(id)
	for n := 2; c.used[name]; n++ {
		name = harness.CallID(id + "-" + strconv.Itoa(n))
	}
	return name
}

// Tell announces a call, once.
func (c *Calls) Tell(call *Call) []harness.Payload {
	if call.told {
		return nil
	}
	call.told = true
	c.open = append(c.open, call)
	return []harness.Payload{&harness.ToolCall{Name: call.Name, Arguments: call.Input, ToolCallID: call.ID}}
}

// Told reports whether the log has the call.
func (call *Call) Told() bool { return call.told }

// Allow notes that a call may run from now on.
func (call *Call) Allow() { call.Allowed, call.begun = true, time.Now() }

// Refuse notes that a call may not run.
func (call *Call) Refuse(why string) { call.denied = &why }

// Refused reports whether the call may not run.
func (call *Call) Refused() bool { return call.denied != nil }

// End is how a call came out.
type End struct {
	Failed  string // why; "" if it did not
	Output  string
	Result  json.RawMessage // structured, if there is any
	Elapsed time.Duration   // 0 if the program does not say
}

// maxResult bounds the structured result of a call; the text is all there.
const maxResult = 64 << 10

// Close is the outcome of a call that was told, once. What was refused is denied.
func (c *Calls) Close(call *Call, e End) (facts []harness.Payload) {
	if !call.told || call.closed {
		return nil
	}
	call.closed = true
	c.open = slices.DeleteFunc(c.open, func(o *Call) bool { return o == call })
	o := &harness.ToolOutcome{ToolCallID: call.ID, ToolName: call.Name, Status: harness.OutcomeOK, ElapsedMS: e.Elapsed.Milliseconds()}
	if e.Elapsed == 0 {
		o.ElapsedMS = time.Since(call.begun).Milliseconds()
	}
	switch {
	case call.denied != nil:
		o.Status, o.Reason = harness.OutcomeDenied, *call.denied
	case e.Failed != "":
		o.Status, o.Error = harness.OutcomeError, e.Failed
	default:
		r := &harness.ToolResult{ToolCallID: call.ID, ToolName: call.Name, Output: e.Output}
		if len(e.Result) > 0 && e.Result[0] == '{' && len(e.Result) <= maxResult {
			r.Result = e.Result
		}
		facts = append(facts, r)
	}
	o.OutcomeType = harness.OutcomeType(o.Status)
	return append(facts, o)
}

// Abandoned closes the calls that the program never came back to, those of an
// earlier attempt included.
func (c *Calls) Abandoned() (facts []harness.Payload) {
	for _, a := range c.Again.Asked {
		if !c.used[a.Call] {
			c.begin()
			c.used[a.Call] = true
			c.open = append(c.open, &Call{ID: a.Call, Name: a.Tool, told: true, begun: time.Now()})
		}
	}
	for _, call := range slices.Clone(c.open) {
		out := c.Close(call, End{Failed: "interrupted"})
		if o, ok := out[len(out)-1].(*harness.ToolOutcome); ok && o.Status == harness.OutcomeError {
			o.Reason = "interrupted"
		}
		facts = append(facts, out...)
	}
	return facts
}

// Open are the calls without an outcome, in order.
func (c *Calls) Open() []*Call { return slices.Clone(c.open) }
