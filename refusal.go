package harness

import "context"

// A Witness is a server that takes down what clients are refused.
type Witness interface {
	// Asked is ctx of one thing that a client asks: whatever is refused of it
	// is taken down once.
	Asked(ctx context.Context) context.Context
	Refused(ctx context.Context, f Refusal)
}

// Refusal is what a client was told in place of what it asked for, as a
// protocol tells a server that keeps an audit.
type Refusal struct {
	Session SessionID // it was about; empty: none, or none that is known
	What    string    // was asked, in the protocol's words: "websocket submit"
	Code    string    // stable, for machines
	Text    string    // as the client was told
}
