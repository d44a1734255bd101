package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"harness"
	"harness/gateway"
	"harness/gateway/secret"
)

// remote is a running server, and the token that lets us in.
type remote struct {
	url   string
	token string // empty: none is known; the server may ask for none
}

// remote finds the token for the server at address: HARNESS_TOKEN, the file
// HARNESS_TOKEN_FILE, or the one beside the server of our data directory, if
// that is the server meant.
func (p *program) remote(address string) (remote, error) {
	r := remote{url: address, token: p.getenv("HARNESS_TOKEN")}
	if path := p.getenv("HARNESS_TOKEN_FILE"); r.token == "" && path != "" {
		b, err := secret.Read(path)
		if err != nil {
			return r, fmt.Errorf("HARNESS_TOKEN_FILE: %w", err)
		}
		r.token = string(bytes.TrimSpace(b))
	}
	if near, ok := p.nearby(); ok && r.token == "" && near.url == address {
		r.token = near.token
	}
	return r, nil
}

// nearby is the server of our data directory, if one runs.
func (p *program) nearby() (remote, bool) {
	return serverOf(cmp.Or(p.getenv("HARNESS_DATA"), dataHome(p.getenv)))
}

// serverOf is the server of a data directory, if one runs.
func serverOf(dir string) (remote, bool) {
	d, err := gateway.Discover(dir)
	if err != nil {
		return remote{}, false
	}
	token, err := d.Token()
	if err != nil {
		return remote{}, false
	}
	return remote{d.URL, token}, true
}

// parse is the address, if it is one of a server.
func (r remote) parse() (*url.URL, error) {
	u, err := url.Parse(r.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("not an http address, such as http://127.0.0.1:7717: %w", harness.ErrInvalid)
	}
	return u, nil
}

// dial opens a connection to u.
func dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	d := net.Dialer{Timeout: dialFor}
	if u.Scheme == "https" {
		return (&tls.Dialer{NetDialer: &d}).DialContext(ctx, "tcp", host)
	}
	return d.DialContext(ctx, "tcp", host)
}

// refusal is a server's answer other than the one that was hoped for, with what
// it says about itself, if anything.
func refusal(status int, text, why string) error {
	switch status {
	case 401:
		return harness.ErrUnauthenticated.Saying("the server was sent no token that it knows; set HARNESS_TOKEN, or HARNESS_TOKEN_FILE to the file token in its data directory")
	case 403:
		return harness.ErrForbidden.Saying("the server refuses: " + cmp.Or(why, harness.ErrForbidden.Text))
	case 404:
		return harness.ErrNotFound
	}
	if why != "" && status >= 400 {
		return fmt.Errorf("the server refuses: %s", why)
	}
	return fmt.Errorf("the server answered %s", text)
}

// post asks the server to do something that needs no words.
func (r remote) post(ctx context.Context, path string, answer any) error {
	return r.ask(ctx, http.MethodPost, path, answer)
}

// ask makes one request and reads its JSON answer.
func (r remote) ask(ctx context.Context, method, path string, answer any) error {
	return r.send(ctx, method, path, nil, answer)
}

// send is ask with a body; nil is none.
func (r remote) send(ctx context.Context, method, path string, body, answer any) error {
	a, err := r.exchange(ctx, method, path, body)
	switch {
	case err != nil:
		return err
	case a.code == http.StatusNoContent:
		return nil
	}
	if a.code != http.StatusOK && a.code != http.StatusCreated {
		return refusal(a.code, a.status, a.problem())
	}
	return json.Unmarshal(a.text, answer)
}

// verdict is what a server answered.
type verdict struct {
	code   int
	status string
	text   []byte
}

// problem is what a refusal says about itself.
func (a verdict) problem() string {
	return problemIn(bytes.NewReader(a.text))
}

// problemIn is what a problem document says, in a line.
func problemIn(r io.Reader) string {
	var p struct{ Title, Detail string }
	if json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&p) != nil {
		return ""
	}
	return clean(cmp.Or(p.Detail, p.Title), 200)
}

// exchange makes one request, with a JSON body if there is one, and reads the
// answer.
func (r remote) exchange(ctx context.Context, method, path string, body any) (a verdict, err error) {
	if _, err := r.parse(); err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialFor)
	defer cancel()
	var words bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&words).Encode(body); err != nil {
			return a, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, &words)
	if err != nil {
		return a, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a = verdict{code: resp.StatusCode, status: resp.Status}
	a.text, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return a, err
}

// maxAnswer is more than any answer that we ask for in words.
const maxAnswer = 1 << 20
