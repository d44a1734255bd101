package offline

import (
	"fmt"
	"hash/fnv"
	"strings"

	"harness/model"
)

// piece is a block of an answer.
type piece struct {
	kind model.PartKind
	text string // arguments, for a call
	id   string
	name string
}

// answer is what to say next, and the fault to end with, if there is one.
type answer struct {
	pieces []piece
	fault  error
	calls  int
}

func (a *answer) say(text string) {
	if n := len(a.pieces); n > 0 && a.pieces[n-1].kind == model.PartText {
		a.pieces[n-1].text += "\n\n" + text
		return
	}
	a.pieces = append(a.pieces, piece{kind: model.PartText, text: text})
}

// decide is the whole model: a function of the request.
func decide(r *model.Request) *answer {
	a := &answer{}
	tools := r.Tools
	if r.Choice == model.ChoiceNone {
		tools = nil
	}
	if last := lastSaid(r.Messages); len(tools) == 0 && strings.Contains(strings.ToLower(last), "summar") {
		a.say(summary(r.Messages))
		return a
	}
	p := planOf(r.Messages)
	switch {
	case len(p.steps) == 0:
		a.say(introduction)
	case p.steps[0].kind == unknown && len(p.calls) == 0:
		a.say(fmt.Sprintf("I do not understand %s.\n\n%s", code(short(p.steps[0].text)), introduction))
	default:
		a.proceed(p, tools, r.Messages)
	}
	if len(a.pieces) == 0 && a.fault == nil {
		a.say("Done.")
	}
	return a
}

func lastSaid(messages []model.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == model.User {
			if text := said(messages[i].Parts); text != "" {
				return text
			}
		}
	}
	return ""
}

// proceed goes on with the plan until it needs a result.
func (a *answer) proceed(p *plan, tools []model.Tool, messages []model.Message) {
	at, acted := p.position(), len(p.calls)
	if p.stopped && at == len(p.steps) {
		a.say("I stop here, as you asked.")
		return
	}
	last, came := p.result(acted - 1)
	if came && p.lastStep(acted).quiet {
		last.IsError = false
	}
	if came && last.IsError && !(at < len(p.steps) && p.steps[at].kind == tell) {
		a.say(p.lastStep(acted).done(last))
		a.leftOver(p.steps[at:])
		return
	}
	spoke := false
	for ; at < len(p.steps); at++ {
		s := &p.steps[at]
		switch {
		case s.acts():
			if came && last.IsError {
				a.leftOver(p.steps[at:])
				return
			}
			if a.act(s, p.steps[at+1:], tools, messages) {
				return
			}
			a.leftOver(p.steps[at+1:])
			return
		case s.kind == unknown:
			a.results(p, acted, spoke)
			a.say("I do not understand " + code(short(s.text)) + ", so I stop there.")
			a.leftOver(p.steps[at+1:])
			return
		case s.kind == tell:
			a.tell(p, acted)
			spoke = true
		default:
			if !a.speak(s, messages) {
				return
			}
			spoke = spoke || s.kind != think
		}
	}
	a.results(p, acted, spoke)
}

// results reports everything that was done, unless the plan has spoken for itself.
func (a *answer) results(p *plan, acted int, spoke bool) {
	if spoke {
		return
	}
	for n := range acted {
		if s := p.lastStep(n + 1); !s.quiet {
			if r, ok := p.result(n); ok {
				a.say(s.done(r))
			}
		}
	}
}

// lastStep is the n-th step that acts, from 1.
func (p *plan) lastStep(n int) *step {
	if at := p.place(n - 1); n > 0 && at >= 0 {
		return &p.steps[at]
	}
	return &step{}
}

// tell reports the last result that says something.
func (a *answer) tell(p *plan, acted int) {
	for n := acted; n > 0; n-- {
		s := p.lastStep(n)
		if r, ok := p.result(n - 1); ok && !s.quiet && (n == 1 || r.IsError || s.kind != write && s.kind != edit && s.kind != todo) {
			a.say(s.done(r))
			return
		}
	}
	a.say("There is nothing to tell: nothing was done before.")
}

// speak carries out a step that needs no tool. It reports whether the plan goes on.
func (a *answer) speak(s *step, messages []model.Message) bool {
	switch s.kind {
	case say:
		a.say(s.text)
	case think:
		text := "I was asked to think, which I can only pretend: I follow rules."
		if s.text != "" {
			text = "I was asked to think about " + s.text + ". I follow rules, so this is all there is to it."
		}
		a.pieces = append(a.pieces, piece{kind: model.PartThinking, text: text})
	case count:
		var b strings.Builder
		for n := s.from; n <= s.to; n++ {
			fmt.Fprintf(&b, "%d ", n)
		}
		a.say(strings.TrimSpace(b.String()))
	case fail:
		text := "asked to fail"
		if s.text != "" {
			text += ": " + s.text
		}
		a.fault = &model.Error{Fault: s.fault, Provider: Provider, Message: text}
		return false
	case intro:
		a.say(introduction)
	case summarise:
		a.say(summary(messages))
	case halt:
		a.say("I stop here, as you asked.")
		return false
	}
	return true
}

// act calls tools for s and for the steps that go together with it. It reports
// false if there is no tool.
func (a *answer) act(s *step, rest []step, tools []model.Tool, messages []model.Message) bool {
	group := []*step{s}
	for i := range rest {
		if !rest[i].together {
			break
		}
		group = append(group, &rest[i])
	}
	var calls []piece
	for n, g := range group {
		name, args, ok := g.call(tools)
		if !ok && g.kind == ask {
			a.say(g.text)
			return false
		}
		if !ok {
			a.say("I was not offered a tool to " + g.want() + ", so I stop there.")
			return false
		}
		a.say(g.announce())
		calls = append(calls, piece{kind: model.PartCall, id: callID(messages, n), name: name, text: args})
	}
	a.pieces = append(a.pieces, calls...)
	a.calls = len(calls)
	return true
}

// leftOver names what is not going to be done.
func (a *answer) leftOver(steps []step) {
	var names []string
	for i := range steps {
		if s := &steps[i]; s.acts() {
			names = append(names, s.want())
		}
	}
	if len(names) > 0 {
		a.say("Not done: " + strings.Join(names, "; ") + ".")
	}
}

// callID is the same for the same place in the same conversation, and another
// anywhere else.
func callID(messages []model.Message, n int) string {
	h := fnv.New64a()
	for i := range messages {
		fmt.Fprintf(h, "%s\x00", messages[i].Role)
		for _, p := range messages[i].Parts {
			fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s\x00", p.Kind, p.ID, p.Text, p.Args)
		}
	}
	return fmt.Sprintf("off_%016x_%d", h.Sum64(), n)
}
