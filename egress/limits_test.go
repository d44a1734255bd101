package egress_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"harness/egress"
	"harness/model/modeltest"
)

// begin asks for a stream and returns its reader.
func begin(t *testing.T, ctx context.Context, h *house, token string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address+"/anthropic/v1/messages", strings.NewReader(forms[0].body+`,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := client(t).Do(r)
	if err == nil {
		t.Cleanup(func() { res.Body.Close() })
	}
	return res, err
}

func TestAStreamIsNotHeldBack(t *testing.T) {
	t.Parallel()
	up := modeltest.Serve(t, "say One\npause gate\nsay two.")
	h := build(t, up.URL, egress.Options{})
	res, err := begin(t, t.Context(), h, h.grant(t, egress.Grant{Provider: "anthropic"}))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"One"`) {
	}
	up.Open("gate") // only what was said before it has come
	rest := ""
	for lines.Scan() {
		rest += lines.Text()
	}
	if !strings.Contains(rest, " two.") || !strings.Contains(rest, "message_stop") {
		t.Errorf("the rest is %s", rest)
	}
}

func TestWhenTheClientLeavesTheProviderIsToldAndTheTokensAreCounted(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	up := modeltest.Serve(t, "usage in=100 out=7\nsay One two three four.\npause")
	url := provider(t, func(w http.ResponseWriter, r *http.Request) {
		up.ServeHTTP(w, r)
		<-r.Context().Done()
		close(left)
	})
	h := build(t, url, egress.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	res, err := begin(t, ctx, h, h.grant(t, egress.Grant{Provider: "anthropic"}))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `four`) {
	}
	cancel()
	select {
	case <-left:
	case <-time.After(patience):
		t.Fatal("the provider was not told")
	}
	until(t, "the usage", func() bool { return len(h.used()) > 0 })
	if u := h.used()[0]; u.Input != 100 || u.Output < 4 || u.Output > 99 || !u.Estimated {
		t.Errorf("used %+v", u)
	}
}

func TestAProviderThatSaysNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		opts   egress.Options
	}{
		"before it begins": {"pause", egress.Options{First: 50 * time.Millisecond}},
		"in the middle":    {"say One\npause", egress.Options{Idle: 50 * time.Millisecond}},
		"in all":           {"slow 5ms\nsay One two three four five six seven.\npause", egress.Options{Total: 200 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := modeltest.Serve(t, tc.script)
			h := build(t, up.URL, tc.opts)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			res, err := begin(t, ctx, h, h.grant(t, egress.Grant{Provider: "anthropic"}))
			if err == nil && res.StatusCode == http.StatusOK {
				_, err = io.Copy(io.Discard, res.Body)
				if err == nil {
					t.Error("the answer ended as if it were whole")
				}
			} else if err != nil || res.StatusCode != http.StatusBadGateway {
				t.Errorf("got %v, %v", res, err)
			}
			if ctx.Err() != nil {
				t.Error("nobody gave up")
			}
		})
	}
}

// TestAProviderThatNeverEndsIsCutOff also cuts one that has no line breaks.
func TestAProviderThatNeverEndsIsCutOff(t *testing.T) {
	t.Parallel()
	url := provider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"x\":\"")
		for b := []byte(strings.Repeat("x", 1<<16)); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	h := build(t, url, egress.Options{})
	res, err := begin(t, t.Context(), h, h.grant(t, egress.Grant{Provider: "anthropic"}))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil || n > 65<<20 || n < 63<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestACutAnswerDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	up := modeltest.Serve(t, "say One two\ndrop")
	h := build(t, up.URL, egress.Options{})
	res, err := begin(t, t.Context(), h, h.grant(t, egress.Grant{Provider: "anthropic"}))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(res.Body); err == nil || !strings.Contains(string(b), "two") {
		t.Errorf("%v after %s", err, b)
	}
}

func TestASlowClientIsGivenUp(t *testing.T) {
	t.Parallel()
	up := scripted(t)
	h := build(t, up.URL, egress.Options{Body: 50 * time.Millisecond})
	token := h.grant(t, egress.Grant{Provider: "anthropic"})
	c, err := net.Dial("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, "POST /anthropic/v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: "+token+"\r\nContent-Length: 100\r\n\r\n{")
	b, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 400") || h.last().Reason != "cut off" {
		t.Errorf("got %q, %v", b, err)
	}
}

// TestAClientThatDoesNotReadIsGivenUp, and with it the provider.
func TestAClientThatDoesNotReadIsGivenUp(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	url := provider(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		for b := []byte("data: " + strings.Repeat("x", 1<<15) + "\n\n"); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	h := build(t, url, egress.Options{Write: 50 * time.Millisecond})
	token := h.grant(t, egress.Grant{Provider: "anthropic"})
	c, err := net.Dial("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := forms[0].body + "}"
	_, _ = io.WriteString(c, ask("POST /anthropic/v1/messages HTTP/1.1", "Host: localhost\r\nX-Api-Key: "+token+"\r\n", body))
	select {
	case <-gone:
	case <-time.After(patience):
		t.Error("the provider still writes")
	}
}

func TestARunningAnswerEndsWithItsToken(t *testing.T) {
	t.Parallel()
	up := modeltest.Serve(t, "say One\npause gate\nsay two.")
	h := build(t, up.URL, egress.Options{})
	for name, end := range map[string]func() (string, func()){
		"revoked": func() (string, func()) {
			token, revoke, _ := h.Grant(egress.Grant{Provider: "anthropic"})
			return token, revoke
		},
		"expired": func() (string, func()) {
			token, _, _ := h.Grant(egress.Grant{Provider: "anthropic", Expires: time.Now().Add(300 * time.Millisecond)})
			return token, func() {}
		},
	} {
		token, end := end()
		res, err := begin(t, t.Context(), h, token)
		if err != nil {
			t.Fatal(name, err)
		}
		end()
		if _, err := io.Copy(io.Discard, res.Body); err == nil {
			t.Errorf("%s: the answer ended as if it were whole", name)
		}
		if got := post(t, h.address+"/anthropic/v1/messages", token, forms[0].body+"}"); got.status != 401 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCloseEndsEverythingAndWaits(t *testing.T) {
	t.Parallel()
	up := modeltest.Serve(t, "say One\npause")
	h := build(t, up.URL, egress.Options{})
	res, err := begin(t, t.Context(), h, h.grant(t, egress.Grant{Provider: "anthropic"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(h.used()); n != 1 {
		t.Errorf("%d answers were accounted for when Close returned", n)
	}
	if _, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Error("the answer ended as if it were whole")
	}
	if _, err := begin(t, t.Context(), h, "x"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("it still answers: %v", err)
	}
}
