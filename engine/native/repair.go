package native

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"harness"
)

// repairRounds is how often the model may call a tool again whose arguments did
// not fit, told precisely why. If it does not fit then, the turn goes on without
// that call; if the model insists, the turn ends.
const repairRounds = 1

// misfit is a tool that was last called with arguments that did not fit.
type misfit struct {
	times  int // in how many answers in a row
	answer int // the last of them
	errors []string
}

// unfit folds that a call did not fit. Calls of one answer count once.
func (c *conversation) unfit(p *harness.ToolValidationError) {
	k := c.open(p.ToolCallID)
	if k == nil || p.Repaired {
		return
	}
	k.unfit = true
	m := c.turn.unfit[k.name]
	if m.times == 0 || m.answer != c.turn.answers {
		m.times++
	}
	m.answer, m.errors = c.turn.answers, p.Errors
	if c.turn.unfit == nil {
		c.turn.unfit = make(map[string]misfit)
	}
	c.turn.unfit[k.name] = m
}

// validated says what came of a check of a call's arguments, and ends the call if
// they do not fit.
func (r *turn) validated(ctx context.Context, j *job, problems []string, mended bool) error {
	event := &harness.ToolValidationError{ToolCallID: harness.CallID(j.id), ToolName: j.name, Errors: problems, Repaired: len(problems) == 0}
	before, unfit := r.conv.turn.unfit[j.name]
	switch {
	case len(problems) > 0:
		if err := r.emit(ctx, event); err != nil {
			return err
		}
		return r.close(ctx, j, failed(toldUnfit(problems, r.conv.turn.unfit[j.name].times)))
	case unfit && before.answer != r.conv.turn.answers:
		event.Errors = before.errors // they are no more
		return r.emit(ctx, event)
	case mended:
		event.Errors = []string{"the arguments were mended: values had another type than the schema says"}
		return r.emit(ctx, event)
	}
	return nil
}

// toldUnfit is what the model is told of arguments that do not fit, the nth time.
func toldUnfit(problems []string, times int) string {
	why := "the arguments do not fit: " + strings.Join(problems, "; ") + ". Nothing was done; "
	if times <= repairRounds {
		return why + "call it again with arguments that fit."
	}
	return why + "they did not fit after you were told how, either. Go on without this call, or say what keeps you from it; if they do not fit once more, the turn ends."
}

// unfit ends a turn whose model insists on arguments that do not fit.
func (r *turn) unfit() error {
	var names []string
	for name, m := range r.conv.turn.unfit {
		if m.times > repairRounds+1 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	m := r.conv.turn.unfit[names[0]]
	return fmt.Errorf("the arguments of %s did not fit %d times in a row, also after the model was told why: %s", names[0], m.times, strings.Join(m.errors, "; "))
}
