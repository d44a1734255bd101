package tool

import (
	"context"
	"encoding/json"
	"errors"

	"harness"
)

// Asker is an optional power of a tool: a call of it is a question to the user.
// The engine shows it and answers the call itself, instead of running it.
type Asker interface {
	Tool
	// Question is what a call asks.
	Question(input json.RawMessage) (Question, error)
}

// Question is what the model wants to know.
type Question struct {
	Text    string   `json:"question" rule:"required max=4000" doc:"The question, with all that is needed to answer it."`
	Options []Option `json:"options" rule:"max=8" doc:"Answers to choose from. The user may always answer something else."`
	Several bool     `json:"several" doc:"More than one of the options may be chosen."`
}

// Option is an answer to choose.
type Option struct {
	Label       string `json:"label" rule:"required max=200" doc:"The answer in few words."`
	Description string `json:"description" rule:"max=1000" doc:"What it would mean."`
}

// NewAskUser returns what asks the user. It is an Asker.
func NewAskUser() Tool {
	return asker{define("ask_user", "Asks the user, and waits for the answer. Use it when what to do depends on something that only the user knows, not for permissions: those are asked for by themselves.",
		func(_ *Env, in *Question) (Plan, error) {
			return Plan{Access: harness.AccessRead, Keys: []string{"user"}, Summary: "ask: " + oneLine(in.Text, 200)}, nil
		},
		func(context.Context, *Env, *Question) (Result, error) {
			return Result{}, errors.New("nobody is there who could answer; decide yourself and say so")
		})}
}

type asker struct{ *defined[Question] }

func (asker) Question(input json.RawMessage) (Question, error) {
	q, err := decode[Question](input)
	if err != nil {
		return Question{}, err
	}
	return *q, nil
}
