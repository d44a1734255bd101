package anthropic

import (
	"strings"

	"harness/model"
)

// budgeted are the models that think by a budget of tokens; later ones decide
// by themselves and are told how hard to try.
var budgeted = []string{"claude-3-7", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5", "claude-haiku-4-5"}

var budgets = map[model.Effort]int64{
	model.EffortLow: 2048, model.EffortMedium: 8192, model.EffortHigh: 16384, model.EffortXHigh: 24576, model.EffortMax: 32768,
}

// answerRoom is left for the answer after all thinking.
const answerRoom = 4096

// think sets how the model thinks, and its temperature if it does not.
func think(p *request, r *model.Request) {
	switch {
	case r.Effort == model.EffortDefault:
	case r.Effort == model.EffortNone:
		p.Thinking = &thinking{Type: "disabled"}
	case byBudget(r.Model) && openWithoutThought(p.Messages):
	case byBudget(r.Model):
		budget := budgets[r.Effort]
		p.Thinking = &thinking{Type: "enabled", BudgetTokens: budget}
		p.MaxTokens = max(p.MaxTokens, budget+answerRoom)
		return
	default:
		p.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		p.OutputConfig = &output{string(r.Effort)}
		return
	}
	p.Temperature = r.Temperature
}

func byBudget(name string) bool {
	for _, b := range budgeted {
		if strings.HasPrefix(name, b) {
			return true
		}
	}
	return false
}

// openWithoutThought reports whether calls are under way that began without a
// thought of this provider, as after a fallback. A model that thinks by a
// budget refuses to go on with such.
func openWithoutThought(messages []message) bool {
	n := len(messages)
	if n < 2 || messages[n-2].Role != assistant || messages[n-1].Content[0].Type != aResult {
		return false
	}
	first := messages[n-2].Content[0]
	return first.Type != aThought && first.Type != aRedacted
}
