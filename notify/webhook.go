package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"harness/internal/public"
)

// Bounds of one delivery.
const (
	deliverFor = 15 * time.Second
	maxReply   = 64 << 10 // of an answer that nobody reads
)

// webhook posts to a URL. It connects to public addresses only, unless the hook
// says otherwise, follows no redirect and uses no proxy.
type webhook struct {
	hook   Hook
	agent  string
	client *http.Client
}

func newWebhook(h Hook, agent string) *webhook {
	dialer := public.New(func(netip.AddrPort) bool { return h.Private })
	return &webhook{h, agent, &http.Client{
		Timeout: deliverFor,
		Transport: &http.Transport{
			DialContext: dialer.Dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: deliverFor, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (w *webhook) deliver(ctx context.Context, it item) error {
	text, now := Body(it.notice, it.about), time.Now()
	signature, err := Sign(w.hook.Secret, it.notice.ID, now, text)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.hook.URL, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", w.agent)
	req.Header.Set(HeaderID, it.notice.ID)
	req.Header.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(HeaderSignature, signature)
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, maxReply)) // so that the connection can be used again
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return &refusal{status: resp.StatusCode, after: retryAfter(resp.Header.Get("Retry-After"))}
	}
	return nil
}

// refusal is an answer other than yes.
type refusal struct {
	status int
	after  time.Duration // the receiver's wish; 0: none
}

func (r *refusal) Error() string { return fmt.Sprintf("the receiver answered %d", r.status) }

func retryAfter(s string) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 86400 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// advice is what a failure says about the next attempt: when, and whether there
// should be one. An address that is refused may be another one tomorrow; a
// receiver that says that it is gone means it.
func advice(err error) (after time.Duration, final bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.after, r.status == http.StatusGone
	}
	return 0, false
}
