package model_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"harness/model"
)

func TestAnUnknownPriceIsNotZero(t *testing.T) {
	t.Parallel()
	facts := model.KnownFacts().With(model.Facts{"127.0.0.1:11434/llama": {Window: 8192, Price: &model.Price{}}})
	u := model.Usage{Input: 1_000_000, CacheRead: 1_000_000, CacheWrite: 0, Output: 100_000}
	for _, c := range []struct {
		provider, model string
		usage           model.Usage
		want            float64 // NaN is unknown
	}{
		{"anthropic", "claude-opus-4-5", u, 5 + 0.5 + 2.5},
		{"anthropic", "claude-opus-4-5-20251101", u, 8},
		{"anthropic", "claude-haiku-4-5", model.Usage{CacheWrite: 1_000_000}, 1.25},
		{"anthropic", "claude-sonnet-4-5", u, math.NaN()}, // longer than its price holds
		{"anthropic", "claude-opus-9", u, math.NaN()},
		{"gateway.test", "claude-opus-4-5", u, math.NaN()},
		{"openai", "gpt-5", u, 1.25 + 0.125 + 1},
		{"openai", "gpt-5-2025-08-07", u, 2.375},
		{"openai", "gpt-5-large", u, math.NaN()},
		{"offline", "offline", u, 0},
		{"127.0.0.1:11434", "llama", u, 0},
	} {
		got := facts.Cost(c.provider, c.model, c.usage)
		if (got == nil) != math.IsNaN(c.want) || got != nil && math.Abs(*got-c.want) > 1e-9 {
			t.Errorf("%s/%s costs %v, want %v", c.provider, c.model, got, c.want)
		}
	}
}

func TestAnAnswerThatBrokeOffCanBeSentBack(t *testing.T) {
	t.Parallel()
	var a model.Answer
	for _, c := range []model.Chunk{
		{Kind: model.ChunkBegin, Provider: "p", Name: "m"},
		{Kind: model.ChunkThinking, Block: 0, Text: "hm"},
		{Kind: model.ChunkSignature, Block: 0, Text: "sig", ID: "rs"},
		{Kind: model.ChunkText, Block: 1, Text: "half "},
		{Kind: model.ChunkCallBegin, Block: 2, ID: "c1", Name: "bash"},
		{Kind: model.ChunkCallBegin, Block: 3, ID: "c2", Name: "bash"},
		{Kind: model.ChunkCallArgs, Block: 3, Text: "{}"},
		{Kind: model.ChunkCallArgs, Block: 2, Text: `{"comm`},
		{Kind: model.ChunkCallEnd, Block: 3, ID: "c2", Name: "bash", Text: "{}"},
		{Kind: model.ChunkThinking, Block: 4, Text: "unsigned"},
	} {
		a.Add(c)
	}
	want := model.Message{Role: model.Assistant, Parts: []model.Part{
		{Kind: model.PartThinking, Text: "hm", Signature: "sig", ID: "rs", Provider: "p"},
		{Kind: model.PartText, Text: "half "}, model.Call("c2", "bash", "{}"),
	}}
	if got := a.Message(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEveryFaultHasItsWords(t *testing.T) {
	t.Parallel()
	for _, f := range []model.Fault{
		model.RateLimited, model.Overloaded, model.Auth, model.BadRequest, model.ContextTooLong,
		model.ServerError, model.CutOff, model.TimedOut, model.Refused, model.Unreachable,
	} {
		if s := (&model.Error{Fault: f, Provider: "p", Status: 418, Message: "why"}).Error(); len(s) < len("p:  (418): why")+4 {
			t.Errorf("%s says %q", f, s)
		}
	}
}

func TestArgumentsAreAlwaysAnObject(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"": "{}", " {} ": "{}", `{"a":1}`: `{"a":1}`, `[1]`: `{"malformed_arguments":"[1]"}`, `{"a`: `{"malformed_arguments":"{\"a"}`, "null": `{"malformed_arguments":"null"}`,
	} {
		p := model.Call("c", "n", args)
		if got := string(p.Object()); got != want {
			t.Errorf("%q is %s, want %s", args, got, want)
		}
	}
}

func TestAnEstimateGrowsWithWhatIsSent(t *testing.T) {
	t.Parallel()
	r := &model.Request{System: strings.Repeat("word ", 100)}
	small := model.Estimate(r)
	r.Messages = []model.Message{model.Say(model.User, "x"), {Role: model.User, Parts: []model.Part{{Kind: model.PartImage}}}}
	if big := model.Estimate(r); small != 125 || big < small+1500 {
		t.Errorf("%d, then %d", small, big)
	}
}
