// Package tool is what the native engine's model may ask for: files, a shell,
// searches, the network, and whatever MCP servers offer.
//
// A Tool says what a call would touch before anybody lets it run, and does it
// afterwards; it never asks for permission itself, and it never runs twice what
// it was asked to do once. Processes run in the session's workspace, files are
// read and written through it, so a tool can do no more than its sandbox lets
// it.
package tool

import (
	"context"
	"encoding/json"

	"harness"
)

// Tool is something a model may ask for. It serves any number of calls at once.
type Tool interface {
	// Spec describes the tool to the model. It is the same at every call, byte
	// for byte: providers cache what they have read.
	Spec() Spec
	// Plan says what a call would touch. Nothing has happened when it returns.
	// The input fits the schema. An error says why the call cannot be done, in
	// words that help the model to do it right.
	Plan(env *Env, input json.RawMessage) (Plan, error)
	// Run does the call, at most once. ctx bounds it, and when Run returns,
	// nothing of it runs any more, unless the tool's purpose is to leave
	// something running. An error is for the model to read; a Result that
	// comes along with it is what there was until then.
	Run(ctx context.Context, env *Env, input json.RawMessage) (Result, error)
}

// Spec is a tool as the model sees it.
type Spec struct {
	Name        string // a-z, 0-9, _ and -
	Description string
	Schema      json.RawMessage // JSON Schema of the input, an object
}

// Plan is what a call would touch.
type Plan struct {
	Access harness.Access
	// Keys name what the call reads or changes, files as "file:PATH" with a
	// path relative to the workspace. Calls with a common key never run at the
	// same time, unless all of them only read. No keys: everything.
	Keys []string
	// Destructive says that nothing can take it back.
	Destructive bool
	// Summary is the call in a few words for whoever has to allow it.
	Summary string
}

// Env is what a call works with. Its session outlives the call.
type Env struct {
	Session   harness.SessionID
	Call      harness.CallID
	Workspace harness.Workspace
	Directory string // the workspace's path, as processes see it
	State     *State // what the session's calls remember of each other

	// Log shows output while the call runs. It may be nil, and never blocks for
	// long.
	Log func(stream, text string)
}

// Result is what came of a call.
type Result struct {
	// Text is what the model reads. The engine shortens what is too long and
	// keeps the whole as an artifact, so a tool bounds it by memory only.
	Text string
	// Data is the same for programs; it may be empty.
	Data json.RawMessage
	// Images go to models that can see.
	Images []Image
}

// Image is a picture in a result.
type Image struct {
	Media string
	Data  []byte
}
