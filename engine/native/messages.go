package native

import (
	"harness"
	"harness/model"
)

// messages is the conversation as a request has it: sides alternate, each call
// is followed by its result, results come in the order of the calls.
func (c *conversation) messages() []model.Message { return render(c.summarised(c.rounds)) }

// summarised is rounds with what is said of those before them.
func (c *conversation) summarised(rounds []*round) []*round {
	if c.summary == "" {
		return rounds
	}
	return append([]*round{{said: []model.Part{{Kind: model.PartText, Text: toldSummary + c.summary}}}}, rounds...)
}

func render(rounds []*round) []model.Message {
	var all []model.Message
	add := func(role model.Role, parts []model.Part) {
		if len(parts) == 0 {
			return
		}
		if n := len(all); n > 0 && all[n-1].Role == role {
			all[n-1].Parts = append(all[n-1].Parts, parts...)
			return
		}
		all = append(all, model.Message{Role: role, Parts: append([]model.Part(nil), parts...)})
	}
	for _, r := range rounds {
		add(model.User, r.said)
		add(model.Assistant, r.parts())
		add(model.User, r.results())
	}
	return all
}

// parts is the model's answer.
func (r *round) parts() (parts []model.Part) {
	if r.exact != nil {
		return r.exact
	}
	if len(r.text) > 0 {
		parts = append(parts, model.Part{Kind: model.PartText, Text: string(r.text)})
	}
	for _, k := range r.calls {
		parts = append(parts, model.Call(k.id, k.name, k.args))
	}
	return parts
}

// results are what came of the round's calls.
func (r *round) results() (parts []model.Part) {
	for _, k := range r.calls {
		text := k.text
		if k.status == "" {
			text = toldInterrupted
		}
		p := model.Result(k.id, text, k.failed())
		p.Name = k.name
		p.Parts = append(p.Parts, k.images...)
		parts = append(parts, p)
	}
	return parts
}

// failed reports whether the call did not do what was asked.
func (k *call) failed() bool {
	return k.status != harness.OutcomeOK && k.status != harness.OutcomeArtifact
}

// tail is the newest rounds that make at least n messages.
func tail(rounds []*round, n int) []*round {
	for k := 0; k <= len(rounds); k++ {
		if t := rounds[len(rounds)-k:]; len(render(t)) >= n {
			return t
		}
	}
	return rounds
}

// compacted replaces what is before the newest messages by a summary.
func (c *conversation) compacted(seq harness.Seq, p *harness.ContextCompacted) {
	c.rounds = tail(c.rounds, p.PreservedMessages)
	c.summary, c.summed, c.instructed = p.Summary, seq, nil
	c.forget()
}
