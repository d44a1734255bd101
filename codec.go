package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// timeForm is RFC 3339 in UTC with milliseconds: fixed width, so that text
// order is time order.
const timeForm = "2006-01-02T15:04:05.000Z"

// NewEvent makes the event at seq and encodes its envelope, once for the log
// and for everybody who is shown it. now is kept to the millisecond. A payload
// that cannot be encoded is a broken invariant of the caller and panics.
func NewEvent(id SessionID, seq Seq, now time.Time, turn TurnID, p Payload) Event {
	return NewFollowedEvent(id, seq, now, turn, p, nil)
}

// NewFollowedEvent is [NewEvent] for what a run said that can outlive the server.
func NewFollowedEvent(id SessionID, seq Seq, now time.Time, turn TurnID, p Payload, f *Followed) Event {
	e := Event{Seq: seq, Session: id, Turn: turn, Time: now.UTC().Truncate(time.Millisecond), Payload: p, Followed: f}
	b := make([]byte, 0, 256)
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, uint64(seq), 10)
	b = append(b, `,"id":`...)
	b = appendJSON(b, EventID(id, seq))
	b = append(b, `,"ts":"`...)
	b = e.Time.AppendFormat(b, timeForm)
	b = append(b, `","session_id":`...)
	b = appendJSON(b, id)
	if turn != "" {
		b = append(b, `,"turn_id":`...)
		b = appendJSON(b, turn)
	}
	b = append(b, `,"type":`...)
	b = appendJSON(b, p.Type())
	b = append(b, `,"tier":"`...)
	b = append(b, TierOf(p.Type())...)
	b = append(b, '"')
	if f != nil {
		b = append(b, `,"followed":`...)
		b = appendJSON(b, f)
	}
	b = append(b, `,"payload":`...)
	b = appendJSON(b, p)
	e.raw = append(b, '}')
	return e
}

// appendJSON encodes v without HTML escapes, so that text stays readable in
// the log.
func appendJSON(dst []byte, v any) []byte {
	dst, err := encodeJSON(dst, v)
	if err != nil {
		panic(fmt.Sprintf("harness: encode %T: %v", v, err))
	}
	return dst
}

func encodeJSON(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

type envelope struct {
	Seq     Seq             `json:"seq"`
	TS      string          `json:"ts"`
	Session SessionID       `json:"session_id"`
	Turn    TurnID          `json:"turn_id"`
	Type    Type            `json:"type"`
	Payload json.RawMessage `json:"payload"`

	Followed *Followed `json:"followed"`
}

// DecodeEvent reads an envelope and keeps its bytes, so that fields and kinds
// this build does not know survive. The event owns raw from then on. An
// envelope without position, session, time or type is [ErrCorrupt].
func DecodeEvent(raw []byte) (Event, error) {
	var env envelope
	if err := json.Unmarshal(raw, &env); err != nil {
		return Event{}, fmt.Errorf("decode event: %w: %w", err, ErrCorrupt)
	}
	ts, err := time.Parse(time.RFC3339Nano, env.TS)
	if err != nil {
		return Event{}, fmt.Errorf("decode event %d: %w: %w", env.Seq, err, ErrCorrupt)
	}
	if env.Seq == 0 || env.Type == "" || CheckID("session_id", string(env.Session)) != nil {
		return Event{}, fmt.Errorf("decode event %d: incomplete envelope: %w", env.Seq, ErrCorrupt)
	}
	return Event{
		Seq: env.Seq, Session: env.Session, Turn: env.Turn, Time: ts.UTC(),
		Payload: decodePayload(env.Type, env.Payload), Followed: env.Followed, raw: raw,
	}, nil
}

// CopyPayload is p as the log will tell it: a copy that shares nothing with p,
// with text that is UTF-8. A payload that cannot be encoded is [ErrInvalid].
func CopyPayload(p Payload) (Payload, error) { return CopyClean(p, nil) }

// CopyClean is [CopyPayload], with a look at the payload's JSON on the way: clean
// returns it, or what to read in its place. It is not asked about the kinds that
// stream.
func CopyClean(p Payload, clean func(encoded []byte) []byte) (Payload, error) {
	switch p := p.(type) { // the kinds that stream need no detour
	case *Token:
		return &Token{ItemID: p.ItemID, Text: validText(p.Text)}, nil
	case *Thinking:
		return &Thinking{ItemID: p.ItemID, Text: validText(p.Text)}, nil
	case *ToolLog:
		return &ToolLog{ToolCallID: p.ToolCallID, Stream: p.Stream, Text: validText(p.Text)}, nil
	}
	raw, err := encodeJSON(nil, p)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w: %w", p.Type(), err, ErrInvalid)
	}
	if clean != nil {
		raw = clean(raw)
	}
	return decodePayload(p.Type(), raw), nil
}

func decodePayload(t Type, raw json.RawMessage) Payload {
	if info, ok := Lookup(t); ok {
		if p := info.New(); len(raw) > 0 && json.Unmarshal(raw, p) == nil {
			return p
		}
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	return &Unknown{Name: t, Raw: raw}
}
