package model

import (
	"context"
	"encoding/json"
	"iter"
)

// Client answers conversations.
//
// Stream asks for one answer and yields it as it comes. The last chunk is a
// ChunkStop; anything else ends with one error, which is last and final: an
// *Error, or the cause of ctx if that ended. Nothing is asked before the first
// iteration, and leaving the loop early ends the exchange. The request is not
// changed and not kept. A Client serves any number of streams at once.
type Client interface {
	Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error]
}

// Counter is a Client that can say how many tokens a request would take. For
// one that cannot, there is Estimate.
type Counter interface {
	Count(ctx context.Context, r *Request) (int64, error)
}

// Request is a conversation that waits for an answer. What comes first in it
// should change least: providers cache prefixes, in the order tools, system,
// messages, and clients encode equal beginnings to equal bytes.
type Request struct {
	Model    string
	System   string
	Messages []Message
	Tools    []Tool // sent in this order
	Choice   Choice
	// MaxTokens bounds the answer; zero is the client's default.
	MaxTokens int64
	Effort    Effort
	// Temperature is left to the provider if nil, and always when the model thinks.
	Temperature *float64
	// CacheKey names the conversation. Providers with several caches keep equal
	// keys together. The session's id is a good one.
	CacheKey string
	// NoCache leaves out the marks that make a provider keep the prefix, for
	// requests that nobody continues.
	NoCache bool
}

// Tool is something the model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// Choice says whether the model may, must or must not call tools. The tools
// stay in the request in any case, so that its prefix stays the same.
type Choice string

const (
	ChoiceAuto Choice = ""
	ChoiceAny  Choice = "any"
	ChoiceNone Choice = "none"
)

// Effort is how much the model should think. A provider without a level takes
// the nearest below.
type Effort string

const (
	EffortDefault Effort = ""     // whatever the model does by itself
	EffortNone    Effort = "none" // do not think
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Efforts are the levels a person may name, least first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}
