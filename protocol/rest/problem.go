package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"harness"
	"harness/internal/mint"
	"harness/internal/shape"
)

// problem is an RFC 9457 problem document, and the error that it is made from.
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Code     string `json:"code"`               // stable, for machines
	Field    string `json:"field,omitempty"`    // the parameter or member that is wrong
	Instance string `json:"instance,omitempty"` // where the operator's log has the rest
}

func (p *problem) Error() string { return p.Code + ": " + p.Detail }

// said is the problem in a few words.
func (p *problem) said() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// fault makes the problem of a status and a code.
func fault(status int, code, title, detail string) *problem {
	return &problem{Type: "urn:harness:problem:" + code, Title: title, Status: status, Code: code, Detail: detail}
}

// What is wrong with a request beyond the closed set. They are never changed.
var (
	errNoPath     = fault(http.StatusNotFound, "no_such_path", "no such path", "GET /openapi.json lists them")
	errNoMethod   = fault(http.StatusMethodNotAllowed, "method_not_allowed", "this path has no such method", "")
	errAccept     = fault(http.StatusNotAcceptable, "not_acceptable", "no such form of the answer", "")
	errMedia      = fault(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body's Content-Type is not one that is read here", "")
	errNotPaused  = fault(http.StatusConflict, "not_paused", "the session is not paused", "")
	errKeyReused  = fault(http.StatusUnprocessableEntity, "key_reused", "the Idempotency-Key was used for another request", "")
	errBodyTooBig = fault(http.StatusRequestEntityTooLarge, harness.ErrTooLarge.Code, harness.ErrTooLarge.Text, "")
)

// statuses says which status stands for each member of the closed set.
var statuses = map[*harness.Error]int{
	harness.ErrInvalid:         http.StatusBadRequest,
	harness.ErrTooLarge:        http.StatusRequestEntityTooLarge,
	harness.ErrNotFound:        http.StatusNotFound,
	harness.ErrExists:          http.StatusConflict,
	harness.ErrTurnNotFound:    http.StatusNotFound,
	harness.ErrNotRunning:      http.StatusConflict,
	harness.ErrBusy:            http.StatusConflict,
	harness.ErrQueueFull:       http.StatusTooManyRequests,
	harness.ErrNoApproval:      http.StatusNotFound,
	harness.ErrDecided:         http.StatusConflict,
	harness.ErrUnsupported:     http.StatusNotImplemented,
	harness.ErrUnauthenticated: http.StatusUnauthorized,
	harness.ErrForbidden:       http.StatusForbidden,
	harness.ErrTooMany:         http.StatusTooManyRequests,
	harness.ErrQuota:           http.StatusForbidden,
	harness.ErrSecret:          http.StatusUnprocessableEntity,
	harness.ErrUnavailable:     http.StatusServiceUnavailable,
	harness.ErrBranched:        http.StatusConflict,
	harness.ErrConflict:        http.StatusConflict,
	harness.ErrStorage:         http.StatusServiceUnavailable,
	harness.ErrCorrupt:         http.StatusInternalServerError,
	harness.ErrLocked:          http.StatusServiceUnavailable,
	harness.ErrInternal:        http.StatusInternalServerError,
}

// asProblem is what a client may know of err.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	e := harness.AsError(err)
	status, ok := statuses[e]
	if !ok {
		e, status = harness.ErrInternal, http.StatusInternalServerError
	}
	p := fault(status, e.Code, e.Text, "")
	if text := harness.ClientText(err); ok && text != e.Text {
		p.Detail = text
	}
	return p
}

// badField refuses a parameter or a member by name.
func badField(field, why string) *problem {
	p := fault(http.StatusBadRequest, harness.ErrInvalid.Code, harness.ErrInvalid.Text, field+": "+why)
	p.Field = field
	return p
}

// broken is badField for what broke its plan; nil if nothing did.
func broken(w *shape.Wrong) error {
	if w == nil {
		return nil
	}
	return badField(w.Field, w.Why)
}

// refuse answers with a problem. What is not the client's doing is logged in
// full under the problem's instance.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := *asProblem(err)
	if p.Status >= 500 && p.Code != harness.ErrUnsupported.Code && p.Code != harness.ErrUnavailable.Code {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return // nobody is there any more
		}
		p.Instance = "urn:harness:" + mint.ID("err_")
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "instance", p.Instance, "err", err)
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if k, ok := s.k.(harness.Witness); ok {
		k.Refused(r.Context(), harness.Refusal{Session: harness.SessionID(r.PathValue("id")), Code: p.Code, Text: p.said()})
	}
	w.Header().Del("Content-Disposition")
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(p) // a client that is gone needs no answer
}

// retryAfter is how many seconds a client should wait: a restart takes less.
const retryAfter = 1
