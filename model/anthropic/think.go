package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

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
func think(p *sdk.MessageNewParams, r *model.Request) {
	switch {
	case r.Effort == model.EffortDefault:
	case r.Effort == model.EffortNone:
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	case byBudget(r.Model) && openWithoutThought(p.Messages):
	case byBudget(r.Model):
		budget := budgets[r.Effort]
		p.Thinking.OfEnabled = &sdk.ThinkingConfigEnabledParam{BudgetTokens: budget}
		p.MaxTokens = max(p.MaxTokens, budget+answerRoom)
		return
	default:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		p.OutputConfig.Effort = sdk.OutputConfigEffort(r.Effort)
		return
	}
	if r.Temperature != nil {
		p.Temperature = param.NewOpt(*r.Temperature)
	}
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
func openWithoutThought(messages []sdk.MessageParam) bool {
	n := len(messages)
	if n < 2 || messages[n-2].Role != sdk.MessageParamRoleAssistant || messages[n-1].Content[0].OfToolResult == nil {
		return false
	}
	first := messages[n-2].Content[0]
	return first.OfThinking == nil && first.OfRedactedThinking == nil
}
