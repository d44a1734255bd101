package tool

import (
	"context"
	"fmt"

	"harness"
)

// The tools below say what the model may ask for; how it is done is up to the
// engine that hands over the function. Their access is read, as each does
// nothing by itself that the user has not a say in: a subagent's calls are
// planned and allowed like any other, and a memory is a proposal.

// TaskInput is work for a subagent.
type TaskInput struct {
	Description string `json:"description" rule:"required max=200" doc:"The task in a few words, for people."`
	Prompt      string `json:"prompt" rule:"required max=100000" doc:"All that the subagent needs to know, and what it shall report: it does not see this conversation."`
	Model       string `json:"model" rule:"max=200" doc:"Another model than yours. Default: the same."`
}

// NewTask returns the tool that has a subagent do something.
func NewTask(run func(ctx context.Context, env *Env, in TaskInput) (Result, error)) Tool {
	return define("task", "Has a subagent do something in the same workspace, and returns its report. Use it for searches and for work that would fill your context with what you will not need. Several tasks of one answer run at the same time.",
		func(env *Env, in *TaskInput) (Plan, error) {
			return Plan{Access: harness.AccessRead, Keys: []string{"task:" + string(env.Call)}, Summary: "delegate: " + oneLine(in.Description, 200)}, nil
		},
		func(ctx context.Context, env *Env, in *TaskInput) (Result, error) { return run(ctx, env, *in) })
}

// MemoryInput is something to remember, to look up, or to forget.
type MemoryInput struct {
	Action string `json:"action" rule:"required words=remember|recall|forget" doc:"remember: propose to keep text. recall: find what was kept. forget: propose to drop what has this id."`
	Text   string `json:"text" rule:"max=4000" doc:"What to remember, as one fact that makes sense by itself."`
	Reason string `json:"reason" rule:"max=1000" doc:"Where it is from: who said it, which file shows it."`
	Query  string `json:"query" rule:"max=1000" doc:"What to recall."`
	ID     string `json:"id" rule:"max=128" doc:"What to forget, as recall named it."`
}

// NewMemory returns the tool that keeps facts beyond the session.
func NewMemory(run func(ctx context.Context, env *Env, in MemoryInput) (Result, error)) Tool {
	return define("memory", "Keeps facts beyond this session: what the user prefers, how this project is built, decisions and their reasons. What you remember is a proposal until it is accepted. Never keep secrets.",
		func(_ *Env, in *MemoryInput) (Plan, error) {
			need := map[string][2]string{"remember": {"text", in.Text}, "recall": {"query", in.Query}, "forget": {"id", in.ID}}[in.Action]
			if need[1] == "" {
				return Plan{}, fmt.Errorf("%s is missing, which %s needs", need[0], in.Action)
			}
			return Plan{Access: harness.AccessRead, Keys: []string{"memory"}, Summary: in.Action + ": " + oneLine(need[1], 200)}, nil
		},
		func(ctx context.Context, env *Env, in *MemoryInput) (Result, error) { return run(ctx, env, *in) })
}

// SearchInput is a question to the index of the workspace.
type SearchInput struct {
	Query string `json:"query" rule:"required max=1000" doc:"Words that the passage would have, or a question."`
	Glob  string `json:"glob" rule:"max=4096" doc:"Only files with such names, such as docs/**/*.md."`
	Limit int    `json:"limit" rule:"min=1 max=50" doc:"How many passages at most. Default 10."`
}

// NewSearch returns the tool that finds passages of the workspace by relevance.
func NewSearch(run func(ctx context.Context, env *Env, in SearchInput) (Result, error)) Tool {
	return define("local_search", "Finds passages of the workspace's files by relevance to a question, with their files and lines. For exact text use grep.",
		func(_ *Env, in *SearchInput) (Plan, error) {
			return reads(".", "search the workspace for "+oneLine(in.Query, 80)), nil
		},
		func(ctx context.Context, env *Env, in *SearchInput) (Result, error) { return run(ctx, env, *in) })
}
