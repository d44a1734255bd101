package rest

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"harness"
	"harness/health"
)

type (
	onSession struct {
		ID harness.SessionID `json:"id" rule:"required id"`
	}
	newChat struct {
		Title     string `json:"title" rule:"max=1024"`
		Directory string `json:"directory" rule:"max=4096"`
		Isolated  *bool  `json:"isolated"` // it works in a directory of its own, made of directory
		Engine    string `json:"engine" rule:"max=128"`
		UserID    string `json:"user_id" rule:"id"`
		settings
	}
	sessionPage struct {
		Sessions []session `json:"sessions"`
		Next     string    `json:"next_cursor,omitempty"`
	}
	chatQuery struct {
		Status string `json:"status" rule:"max=256"` // several, with commas
		UserID string `json:"user_id" rule:"id"`
		Parent string `json:"parent_session_id" rule:"id"`
		Limit  int64  `json:"limit" rule:"min=1 max=1000"`
		Cursor string `json:"cursor" rule:"max=192"`
	}
	turnInput struct {
		Prompt string      `json:"prompt" rule:"max=524288"`
		Parts  []inputPart `json:"parts"`
		OnBusy string      `json:"on_busy" rule:"words=reject|queue|interrupt"`
	}
	inputPart struct {
		Type      string `json:"type" rule:"required words=text|file"`
		Text      string `json:"text" rule:"max=524288"`
		Path      string `json:"path" rule:"max=4096"`
		URL       string `json:"url" rule:"max=4096"`
		MediaType string `json:"media_type" rule:"max=128"`
	}
	// receipt says where in the log a command took effect.
	receipt struct {
		SessionID harness.SessionID `json:"session_id"`
		Seq       harness.Seq       `json:"seq"`
		TurnID    harness.TurnID    `json:"turn_id,omitempty"` // none while a prompt waits
		ItemID    harness.ItemID    `json:"item_id,omitempty"`
		Health    *health.Snapshot  `json:"health,omitempty"` // behind the command
	}
)

func asReceipt(id harness.SessionID, r harness.Receipt) receipt {
	return receipt{SessionID: id, Seq: r.Seq, TurnID: r.Turn, ItemID: r.Item}
}

func (s *Server) createChat(ctx context.Context, key string, _ *none, b *newChat) (session, error) {
	c, _ := harness.CallerOf(ctx)
	user := cmp.Or(b.UserID, c.User)
	n := harness.NewSession{Kind: harness.Chat, User: user, Title: b.Title, Engine: b.Engine, Directory: b.Directory, Isolated: b.Isolated, Config: b.patch()}
	return s.create(ctx, key, "user "+user, n)
}

func (s *Server) listChats(ctx context.Context, p *chatQuery) (sessionPage, error) {
	return s.list(ctx, harness.Chat, p)
}

// list is a page of sessions of a kind; "" is any.
func (s *Server) list(ctx context.Context, kind harness.Kind, p *chatQuery) (sessionPage, error) {
	statuses, err := parseStatuses(p.Status)
	if err != nil {
		return sessionPage{}, err
	}
	before, err := parseMark(p.Cursor)
	if err != nil {
		return sessionPage{}, err
	}
	f := harness.Filter{Kind: kind, User: p.UserID, Statuses: statuses, Parent: harness.SessionID(p.Parent), Before: before}
	rows, next, err := s.rows(ctx, f, pageLimit(p.Limit))
	page := sessionPage{Sessions: []session{}, Next: next}
	for _, sum := range rows {
		page.Sessions = append(page.Sessions, asSession(sum))
	}
	return page, err
}

// sessionDetail is a session with what S3 wants beside its row.
type sessionDetail struct {
	session
	Error string `json:"error,omitempty"`
	contract
	Config    config         `json:"config"`
	Lacks     *harness.Lacks `json:"lacks,omitempty"` // because of its engine
	Turn      *turn          `json:"turn,omitempty"`  // the one that is open
	Queued    int            `json:"queued_prompts"`
	Approvals []approval     `json:"approvals"`

	Health *health.Snapshot `json:"health,omitempty"`
	detail
}

type turn struct {
	TurnID     harness.TurnID `json:"turn_id"`
	Attempt    int            `json:"attempt"`
	StartedAt  time.Time      `json:"started_at"`
	Cancelling bool           `json:"cancelling,omitempty"`
}

func asTurn(t *harness.ActiveTurn) *turn {
	if t == nil {
		return nil
	}
	return &turn{t.ID, t.Attempt, t.Started, t.Cancelling}
}

func (s *Server) getChat(ctx context.Context, p *onSession) (sessionDetail, error) {
	return s.detail(ctx, p.ID, harness.Chat)
}

// detail is a session of a kind as it is now.
func (s *Server) detail(ctx context.Context, id harness.SessionID, kind harness.Kind) (sessionDetail, error) {
	row, err := s.row(ctx, id, kind)
	if err != nil {
		return sessionDetail{}, err
	}
	st, err := s.k.At(ctx, id, 0)
	if err != nil {
		return sessionDetail{}, err
	}
	sum := st.Summary()
	if !sum.Queued.IsZero() {
		sum.Place = row.Place
	}
	d := sessionDetail{
		session: asSession(sum), contract: s.contractOf(st), Error: st.Error, Config: asConfig(st.Config), Lacks: st.Lacks, Turn: asTurn(st.Turn),
		Queued: len(st.Queue), Approvals: asApprovals(st), Health: healthOf(st),
	}
	d.detail, err = describe(ctx, s.k, st)
	return d, err
}

func (s *Server) streamChat(w http.ResponseWriter, r *http.Request, p *streamQuery, _ *none) error {
	if _, err := s.row(r.Context(), p.ID, harness.Chat); err != nil {
		return err
	}
	return s.streamEvents(w, r, p, nil)
}
