package rest

import (
	"context"
	"strconv"

	"harness"
)

type (
	messageQuery struct {
		ID     harness.SessionID `json:"id" rule:"required id"`
		Before *int64            `json:"before" rule:"min=0"` // an index; all of them unless given
		Limit  int64             `json:"limit" rule:"min=1 max=1000"`
	}
	// messagePage is a part of the conversation, oldest first.
	messagePage struct {
		SessionID harness.SessionID `json:"session_id"`
		Seq       harness.Seq       `json:"seq"`
		Count     int               `json:"message_count"`
		First     int               `json:"first_message"` // index of Messages[0]
		Messages  []message         `json:"messages"`
		Next      string            `json:"next_cursor,omitempty"` // the before of the page of older ones
	}
)

// listMessages is a page of the conversation as it is now, from its end or from
// a place towards its beginning. It costs the same at any place. Like a state
// it has as much text as maxStateBytes, and one message at least.
func (s *Server) listMessages(ctx context.Context, p *messageQuery) (messagePage, error) {
	if _, err := s.row(ctx, p.ID, ""); err != nil {
		return messagePage{}, err
	}
	st, err := s.k.At(ctx, p.ID, 0)
	if err != nil {
		return messagePage{}, err
	}
	v := messagePage{SessionID: p.ID, Seq: st.Seq, Count: st.Count()}
	end := v.Count
	if p.Before != nil {
		end = int(min(*p.Before, int64(end)))
	}
	v.First, v.Messages, err = s.before(ctx, p.ID, st, end, pageLimit(p.Limit))
	if v.First > 0 {
		v.Next = strconv.Itoa(v.First)
	}
	return v, err
}
