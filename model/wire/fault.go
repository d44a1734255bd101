package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"harness/internal/lazy"
	"harness/model"
)

// Said is what a server said about its failure, by status, by header, or in
// the middle of a stream.
type Said struct {
	Status  int         // 0 or 200 in a stream
	Header  http.Header // may be nil
	Words   []string    // its types and codes, most precise first
	Message string
}

// byWord are the types and codes of both providers and of servers that follow
// them, but for those that say no more than a status does.
var byWord = map[string]model.Fault{
	"rate_limit_error": model.RateLimited, "rate_limit_exceeded": model.RateLimited, "tokens": model.RateLimited, "requests": model.RateLimited,
	"overloaded_error": model.Overloaded, "server_is_overloaded": model.Overloaded, "slow_down": model.Overloaded,
	"authentication_error": model.Auth, "permission_error": model.Auth, "billing_error": model.Auth,
	"insufficient_quota": model.Auth, "invalid_api_key": model.Auth, "usage_limit_reached": model.Auth,
	"context_length_exceeded": model.ContextTooLong, "request_too_large": model.ContextTooLong, "exceed_context_size_error": model.ContextTooLong,
	"not_found_error": model.BadRequest, "model_not_found": model.BadRequest, "invalid_prompt": model.BadRequest,
	"content_filter": model.Refused, "content_policy_violation": model.Refused,
}

var byStatus = map[int]model.Fault{
	http.StatusUnauthorized: model.Auth, http.StatusForbidden: model.Auth, http.StatusPaymentRequired: model.Auth,
	http.StatusRequestEntityTooLarge: model.ContextTooLong,
	http.StatusTooManyRequests:       model.RateLimited,
	http.StatusServiceUnavailable:    model.Overloaded, 529: model.Overloaded,
	http.StatusRequestTimeout: model.ServerError, http.StatusConflict: model.ServerError,
}

// tooLong is how servers without a code for it say that a prompt does not fit.
var tooLong = lazy.Regexp{Expr: `(?i)prompt is too long|context (length|window|size)|maximum context|too many tokens|exceeds? the (model'?s? )?(limit|context)`}

// Fault names what the server said.
func (s *Said) Fault() model.Fault {
	for _, w := range s.Words {
		if f, ok := byWord[w]; ok {
			return f
		}
	}
	if f, ok := byStatus[s.Status]; ok {
		return f
	}
	if s.Status < 200 || s.Status >= 500 {
		return model.ServerError
	}
	if tooLong.Get().MatchString(s.Message) {
		return model.ContextTooLong
	}
	if s.Status < 300 { // in a stream, by a word nobody knows
		return model.ServerError
	}
	return model.BadRequest
}

// Error is what the server said as an error of provider, without key.
func (s *Said) Error(provider, key string) *model.Error {
	e := &model.Error{Fault: s.Fault(), Provider: provider, Status: s.Status, Message: scrub(s.Message, key)}
	if s.Status >= 300 && s.Status < 400 {
		e.Message = "it sends us elsewhere, to " + scrub(s.Header.Get("Location"), key)
	}
	if s.Header != nil {
		e.RetryAfter = retryAfter(s.Header, time.Now())
		e.RequestID = bound(firstHeader(s.Header, "request-id", "x-request-id"))
	}
	return e
}

func firstHeader(h http.Header, names ...string) string {
	for _, n := range names {
		if v := h.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// retryAfter reads what a server asks for, in any of the three ways there are.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e12)) * time.Millisecond
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e9) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now).Round(time.Second)
	}
	return 0
}

// Broken names an error that is not the server's own. begun is whether an
// answer had begun. The end of ctx is returned as its cause.
func Broken(ctx context.Context, provider, key string, begun bool, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, ok := errors.AsType[*model.Error](err)
	if ok {
		e.Provider = provider
		return e
	}
	e = &model.Error{Provider: provider, Message: scrub(err.Error(), key), Err: err}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, shape := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, errIdle):
		e.Fault, e.Message = model.TimedOut, ""
	case syntax, shape:
		e.Fault, e.Message = model.ServerError, "what it sends cannot be understood: "+e.Message
	case begun, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Fault = model.CutOff
	default:
		e.Fault = model.Unreachable
	}
	return e
}

// Ended is the error of a stream that stopped without saying so.
func Ended(provider string) error {
	return &model.Error{Fault: model.CutOff, Provider: provider, Message: "the stream ended without its last event"}
}

func scrub(text, key string) string {
	if len(key) > 3 {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	return bound(text)
}

// maxMessage bounds what a server can put into our errors.
const maxMessage = 1000

func bound(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxMessage {
		return s
	}
	s = s[:maxMessage]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
