package offline

import (
	"slices"
	"strings"

	"harness/internal/lazy"
	"harness/model"
)

// plan is what the user wants and how far it has come. It follows from the
// conversation alone, so that a stand-in that was restarted goes on where the
// other stopped.
type plan struct {
	steps   []step
	calls   []model.Part          // made for the steps that act, in order
	results map[string]model.Part // by call
	stopped bool                  // by the user, on the way
	before  bool                  // there was a conversation before this request
}

// planOf reads a conversation. What the user says while calls are under way
// adds to the plan; after an answer, it begins a new one.
func planOf(messages []model.Message) *plan {
	p := &plan{results: map[string]model.Part{}}
	working := false // the last thing the model said was a call
	for i := range messages {
		m := &messages[i]
		if m.Role == model.Assistant {
			working = false
			for _, part := range m.Parts {
				if part.Kind == model.PartCall {
					p.calls, working = append(p.calls, part), true
				}
			}
			continue
		}
		for _, part := range m.Parts {
			if part.Kind == model.PartResult {
				p.results[part.ID] = part
			}
		}
		text := said(m.Parts)
		switch {
		case text == "":
		case working:
			p.steer(text)
		default:
			p.before = p.before || p.steps != nil
			p.steps, p.calls, p.stopped = parse(text), nil, false
		}
	}
	p.mend()
	return p
}

// mend adds what a tool asks for: a file is to be read before it is changed.
func (p *plan) mend() {
	for n := 0; ; n++ {
		r, ok := p.result(n)
		if !ok {
			return
		}
		at := p.place(n)
		if at < 0 || !r.IsError || !strings.Contains(model.Plain(r.Parts), "read it first") {
			continue
		}
		s := &p.steps[at]
		if s.kind != write && s.kind != edit || s.again {
			continue
		}
		look, retry := step{kind: read, path: s.path, quiet: true}, *s
		s.quiet, retry.again, retry.together = true, true, false
		p.steps = slices.Insert(p.steps, at+1, look, retry)
	}
}

// place is which of the steps acts n-th, from 0.
func (p *plan) place(n int) int {
	for i := range p.steps {
		if p.steps[i].acts() {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// instead says that what is left of a plan is not wanted any more.
var instead = lazy.Regexp{Expr: `(?i)[,\s]*\binstead\b[,\s]*`}

// steer changes a plan that is under way.
func (p *plan) steer(text string) {
	bare := instead.Get().ReplaceAllString(text, "")
	more := parse(bare)
	if len(more) == 0 {
		return
	}
	if bare != text || more[0].kind == halt {
		p.steps = p.steps[:p.position()]
	}
	if more[0].kind == halt {
		more = more[1:]
		p.stopped = len(more) == 0
	}
	p.steps = append(p.steps, more...)
}

// position is the first step that is not yet done.
func (p *plan) position() int {
	left := len(p.calls)
	for i := range p.steps {
		if left == 0 {
			return i
		}
		if p.steps[i].acts() {
			left--
		}
	}
	return len(p.steps)
}

// result is what came of the n-th step that acts.
func (p *plan) result(n int) (model.Part, bool) {
	if n < 0 || n >= len(p.calls) {
		return model.Part{}, false
	}
	r, ok := p.results[p.calls[n].ID]
	return r, ok
}

// tag is a block that programs put beside what people say.
var tag = lazy.Regexp{Expr: `(?s)<(system-reminder|environment_context|project_instructions|context|memory)>.*?</(?:system-reminder|environment_context|project_instructions|context|memory)>`}

// said is what a person said in a message.
func said(parts []model.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == model.PartText {
			texts = append(texts, tag.Get().ReplaceAllString(p.Text, ""))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
