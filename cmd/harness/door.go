package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"

	"harness"
	"harness/gateway"
)

// door are the flags that say where the server listens, and who may come in.
type door struct {
	p                                             *program
	addr, auth, cert, key, names                  *string
	proxy                                         *bool
	sessions, gib                                 *int
	issuer, client, secret, audience, claim, user *string
	roles, others                                 *string
}

func (f *flags) door() *door {
	return &door{
		p:     f.p,
		addr:  f.String("addr", "127.0.0.1:7717", "`HOST:PORT` to listen on; port 0 takes a free one"),
		auth:  f.String("auth", "on", "off lets everybody in (`HOW`): for trying something by hand, on a loopback address only"),
		cert:  f.String("tls-cert", "", "`FILE` with the certificate; it is read again when it changes"),
		key:   f.String("tls-key", "", "`FILE` with its key"),
		names: f.String("name", "", "names under which clients know the server, `HOST` or HOST:PORT, with commas between them"),
		proxy: f.Bool("behind-proxy", false, "a proxy before the server speaks TLS, and nothing else reaches it"),

		sessions: f.Int("max-sessions-per-user", gateway.MaxSessions, "how many sessions a user may have that is no admin, `N`; 0 for any number"),

		gib: f.Int("max-gib-per-user", gateway.MaxStored>>30, "how much the sessions of such a user may store, `GIB`; 0 for any amount"),

		issuer:   f.String("oidc-issuer", "", "`URL` of an identity provider whose tokens are accepted"),
		client:   f.String("oidc-client", "", "`ID` of this server there, for logins of browsers"),
		secret:   f.String("oidc-secret", "", "where its secret is (`SOURCE`): file:PATH, command:ARGV or env:NAME"),
		audience: f.String("oidc-audience", "", "`AUDIENCE` that tokens must have (default the client)"),
		user:     f.String("oidc-user-claim", "sub", "`CLAIM` that says whose sessions are the caller's"),
		claim:    f.String("oidc-role-claim", "roles", "`CLAIM` that says which role the caller has"),
		roles:    f.String("oidc-roles", "", "which role comes with which value of it, `VALUE=ROLE` with commas between them"),
		others:   f.String("oidc-default-role", "", "`ROLE` of callers that have none; without it they are refused"),
	}
}

// exposure is what the flags ask for.
func (d *door) exposure() gateway.Exposure {
	return gateway.Exposure{Addr: *d.addr, TLS: *d.cert != "", BehindProxy: *d.proxy, AuthOff: *d.auth == "off"}
}

// listen opens the address, if it may be opened with these flags.
func (d *door) listen(ctx context.Context, log *slog.Logger) (net.Listener, error) {
	if *d.auth != "on" && *d.auth != "off" {
		return nil, fmt.Errorf("--auth %s: neither on nor off: %w", *d.auth, harness.ErrInvalid)
	}
	if (*d.cert == "") != (*d.key == "") {
		return nil, fmt.Errorf("--tls-cert and --tls-key go together: %w", harness.ErrInvalid)
	}
	if err := d.exposure().Check(); err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
	var config *tls.Config
	if *d.cert != "" {
		c, err := gateway.OpenCertificate(*d.cert, *d.key, log)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
		config = c.Config()
	}
	l, err := gateway.Listen(ctx, *d.addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--addr %s: another program listens there; choose another port, or 0 for any that is free", *d.addr)
	case err != nil:
		return nil, fmt.Errorf("--addr %s: %w", *d.addr, err)
	case config != nil:
		l = tls.NewListener(l, config)
	}
	return l, nil
}

// called is what clients may call a server at addr.
func (d *door) called(addr net.Addr) (*gateway.Names, error) {
	names, err := gateway.NewNames(addr, *d.cert != "" || *d.proxy, parts(*d.names)...)
	if err != nil {
		return nil, fmt.Errorf("--name: %w", err)
	}
	return names, nil
}

// url is where clients find a server at addr.
func (d *door) url(addr net.Addr) string {
	scheme, host := "http://", addr.String()
	if *d.cert != "" || *d.proxy {
		scheme = "https://"
	}
	if all := parts(*d.names); len(all) > 0 {
		host = all[0]
	}
	return scheme + host
}

// provider is the identity provider that the flags name, if they do.
func (d *door) provider(ctx context.Context, hidden secrets) (*gateway.Provider, error) {
	if *d.issuer == "" {
		return nil, nil
	}
	c := gateway.ProviderConfig{
		Issuer: *d.issuer, ClientID: *d.client, Audience: *d.audience, UserClaim: *d.user, RoleClaim: *d.claim,
		Default: harness.CallerRole(*d.others), Roles: map[string]harness.CallerRole{},
	}
	for _, pair := range parts(*d.roles) {
		value, role, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("--oidc-roles: %q is not VALUE=ROLE: %w", pair, harness.ErrInvalid)
		}
		c.Roles[value] = harness.CallerRole(role)
	}
	if *d.secret != "" {
		var err error
		if c.ClientSecret, err = d.p.secret(ctx, *d.secret); err == nil {
			err = hidden.Add(c.ClientSecret)
		}
		if err != nil {
			return nil, fmt.Errorf("--oidc-secret: %w", err)
		}
	}
	return gateway.OpenProvider(ctx, c)
}

// quotas are what the flags let one user have.
func (d *door) quotas() (q gateway.Quotas) {
	if q.Sessions = *d.sessions; q.Sessions <= 0 {
		q.Sessions = -1
	}
	if q.Stored = int64(*d.gib) << 30; q.Stored <= 0 {
		q.Stored = -1
	}
	return q
}

// parts are what stands between commas.
func parts(s string) (all []string) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
