package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"harness"
	"harness/model"
)

// commandCompact is the prompt by which a person asks for a compaction.
const commandCompact = "/compact"

const (
	// keptRounds are verbatim after a compaction, if they are not too long.
	keptRounds = 3
	// keptShare is how much of the window they may take, in hundredths.
	keptShare = 30
	// summaryTokens bounds a summary.
	summaryTokens = 4096
	// summaryBytes bounds it where nobody can be asked to write one.
	summaryBytes = 8 << 10
)

// summarise is what the model is asked for.
const summarise = `The conversation is about to be shortened. Write a summary of everything before this message, for yourself: you will go on with it in place of the conversation.
State: what the user asked for, in their own words where they matter; what was done, with names of files and commands; what was found out; what was decided and why; what is left to do, and what comes next.
Do not call tools. Do not add anything that did not happen.`

// errNothingToCompact says that the conversation is as short as it can be.
var errNothingToCompact = errors.New("there is nothing before the last exchange that could be summarised")

// compact replaces all but the last rounds by a summary. If must is set, as
// little as possible is kept, and a summary is put together without the model
// where the model cannot write one.
func (r *turn) compact(ctx context.Context, why string, must bool) error {
	if len(r.conv.rounds) < 2 {
		return errNothingToCompact
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	kept := r.keep()
	if must {
		kept = 1
	}
	head := r.conv.rounds[:len(r.conv.rounds)-kept]
	summary, err := r.summary(ctx, r.conv.summarised(head))
	if err != nil {
		if !must || ctx.Err() != nil {
			return fmt.Errorf("summarise %d rounds: %w", len(head), err)
		}
		summary = digest(r.conv.summarised(head))
	}
	rest := r.conv.rounds[len(head):]
	cursor := harness.Cursor{Kind: harness.AtCompaction, Session: r.t.Session, Seq: r.conv.seq + 1}.String()
	event := &harness.ContextCompacted{
		OriginalCount: len(r.conv.messages()), PreservedMessages: len(render(rest)), Summary: summary, ResumeCursor: &cursor,
	}
	after := r.conv.clone()
	after.compacted(0, event)
	event.CompactedCount = len(after.messages())
	event.TokensSaved = max(0, r.conv.estimate()-after.estimate())
	r.log.Info("context compacted", "why", why, "rounds", len(head), "saved", event.TokensSaved)
	if err := r.emit(ctx, event); err != nil {
		return err
	}
	r.gauge.counted = 0
	return r.checkpoint(ctx)
}

// settle makes the turn's facts durable and folds the log again, so that every
// round knows its place. Thoughts are taken over.
func (r *turn) settle(ctx context.Context) error {
	if err := r.checkpoint(ctx); err != nil {
		return err
	}
	held := r.conv
	if err := r.load(ctx); err != nil {
		return err
	}
	if n := len(held.rounds); n == len(r.conv.rounds) {
		for i, was := range held.rounds {
			if len(was.calls) == len(r.conv.rounds[i].calls) {
				r.conv.rounds[i].exact = was.exact
			}
			for j, k := range was.calls[:min(len(was.calls), len(r.conv.rounds[i].calls))] {
				r.conv.rounds[i].calls[j].images = k.images
			}
		}
	}
	return nil
}

// keep is how many of the last rounds stay as they are: the newest, and more if
// they are short.
func (r *turn) keep() int {
	rounds := r.conv.rounds
	room := r.window(r.request()) * keptShare / 100
	n := 1
	for n < min(keptRounds, len(rounds)-1) {
		if room > 0 && estimate(rounds[len(rounds)-n-1:]) > room {
			break
		}
		n++
	}
	return n
}

// summary asks the model, and once more with stubs for results if that is too
// much for it.
func (r *turn) summary(ctx context.Context, head []*round) (string, error) {
	text, err := r.summaryOf(ctx, head)
	if f, ok := errors.AsType[*model.Error](err); ok && f.Fault == model.ContextTooLong {
		c := (&conversation{rounds: head}).clone()
		for _, round := range c.rounds {
			round.exact = nil
			for _, k := range round.calls {
				k.stub()
			}
		}
		return r.summaryOf(ctx, c.rounds[len(c.rounds)/2:])
	}
	return text, err
}

func (r *turn) summaryOf(ctx context.Context, head []*round) (string, error) {
	req := r.request()
	req.Messages = render(append(head[:len(head):len(head)], &round{said: []model.Part{{Kind: model.PartText, Text: summarise}}}))
	req.Choice, req.MaxTokens, req.NoCache = model.ChoiceNone, summaryTokens, true
	a := new(model.Answer)
	for c, err := range r.e.client.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		a.Add(c)
	}
	r.countAside(a)
	text := strings.TrimSpace(a.Text())
	if text == "" {
		return "", errors.New("the model wrote no summary")
	}
	return text, nil
}

// digest is a summary of a kind that needs no model: what was asked, and what
// was called.
func digest(head []*round) string {
	var b strings.Builder
	b.WriteString("(No summary could be written; this is what is known.)\n")
	for _, r := range head {
		for _, p := range r.said {
			fmt.Fprintf(&b, "Said: %s\n", cut(p.Text, 500))
		}
		if len(r.text) > 0 {
			fmt.Fprintf(&b, "You said: %s\n", cut(string(r.text), 200))
		}
		for _, k := range r.calls {
			fmt.Fprintf(&b, "You called %s %s: %s\n", k.name, cut(k.args, 120), k.status)
		}
	}
	if text := b.String(); len(text) > summaryBytes {
		return cut(text, summaryBytes/2) + "\n" + text[len(text)-summaryBytes/2:]
	}
	return b.String()
}

// compactNow is a turn that does nothing else.
func (r *turn) compactNow(ctx context.Context) error {
	before := r.conv.estimate()
	text := "There is nothing to compact yet."
	switch err := r.compact(ctx, "asked for", false); {
	case errors.Is(err, errNothingToCompact):
	case err != nil:
		return err
	default:
		text = fmt.Sprintf("The conversation was compacted: about %d tokens before, %d now.", before, r.conv.estimate())
	}
	if err := r.emit(ctx, &harness.Token{Text: text}); err != nil {
		return err
	}
	return r.emit(ctx, &harness.Completed{Result: text})
}
