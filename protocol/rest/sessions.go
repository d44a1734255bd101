package rest

import (
	"context"
	"iter"

	"harness"
)

// sessions is what this protocol needs of the server.
type sessions interface {
	Create(ctx context.Context, n harness.NewSession) (harness.SessionID, error)
	Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error)
	Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error]
	List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error]
	At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error)
	Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error]
	Watch(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	WatchAwake(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Update, error]
	OnWake(f func(harness.SessionID))
	OnShow(f func(harness.SessionID, []harness.Event))
	Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error]
	Revoke(ctx context.Context, id harness.RuleID) error
}

// attended is a server whose sessions may go on elsewhere: it is told which of
// them have watchers here, and nil says that it need not be.
type attended interface {
	Attend(id harness.SessionID) (leave func())
}

// remover is a server that can forget a session.
type remover interface {
	Remove(ctx context.Context, id harness.SessionID) error
}
