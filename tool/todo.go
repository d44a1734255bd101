package tool

import (
	"context"
	"fmt"
	"strings"

	"harness"
)

// Todo is one thing to do.
type Todo struct {
	Content string `json:"content" rule:"required max=1000" doc:"What is to be done."`
	Status  string `json:"status" rule:"required words=pending|in_progress|completed" doc:"How far it is."`
}

type todoInput struct {
	Items []Todo `json:"items" rule:"required empty max=100" doc:"The whole list in its order; it replaces the former one."`
}

// NewTodo returns the list of what is to be done.
func NewTodo() Tool {
	return define("todo", "Keeps the list of what is to be done, for you and for the user who watches. Give the whole list each time something changes, with at most one item in progress.",
		func(_ *Env, in *todoInput) (Plan, error) {
			return Plan{Access: harness.AccessRead, Keys: []string{"todo"}, Summary: fmt.Sprintf("note %d things to do", len(in.Items))}, nil
		},
		func(_ context.Context, env *Env, in *todoInput) (Result, error) {
			env.State.SetTodos(in.Items)
			var b strings.Builder
			done := 0
			for i, t := range in.Items {
				mark := " "
				switch t.Status {
				case "in_progress":
					mark = ">"
				case "completed":
					mark = "x"
					done++
				}
				fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, mark, t.Content)
			}
			fmt.Fprintf(&b, "[%d of %d done]\n", done, len(in.Items))
			return Result{Text: b.String(), Data: data(map[string]any{"items": in.Items})}, nil
		})
}
