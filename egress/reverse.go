package egress

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// reverse serves a request to a provider. It returns a refusal that was not
// answered yet, or another error if the answer broke off.
func (p *Proxy) reverse(w http.ResponseWriter, r *http.Request, d *decision) error {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	path = "/" + path
	u := p.upstreams[name]
	if u != nil {
		d.dialect, d.record.Provider = u.provider.Dialect, name
	}
	switch {
	case r.URL.Host != "" || r.URL.Scheme != "" || r.URL.Opaque != "":
		return refuseForm
	case !ownHost(r.Host):
		return refuseHost
	}
	h := p.grants.find(presented(r.Header))
	if h == nil {
		return refuseToken
	}
	d.of(h)
	switch {
	case u == nil || r.URL.RawPath != "": // written in a way that others may read otherwise
		return refuseRoute
	case !h.serves(name):
		return refuseProvider
	case r.Header.Get("Upgrade") != "":
		return refuseUpgrade
	}
	route, model, ok := match(u.provider.Routes, r.Method, path)
	if !ok {
		return refuseRoute
	}
	switch google := u.provider.Dialect == DialectGoogle; {
	case google && strings.Contains(model, ":"): // it would name a method
		return refuseRoute
	case google && !plainQuery(r.URL.Query()):
		return refuseQuery
	}
	a := &ask{model: model}
	switch {
	case route.Kind == Look && r.ContentLength != 0:
		return refuseBody
	case r.ContentLength < 0 || len(r.TransferEncoding) > 0:
		return refuseLength // and so nobody can disagree about where it ends
	case route.Kind != Look:
		body, release, err := p.readBody(w, r)
		if err != nil {
			return err
		}
		defer release()
		read := readAsk
		if u.provider.Dialect == DialectGoogle {
			read = func(body []byte) (*ask, error) { return readGoogle(body, model) }
		}
		if a, err = read(body); err != nil {
			return err
		}
	}
	if d.record.Model = printable(a.model); a.model != "" && !h.allows(a.model) || a.others && len(h.Models) > 0 {
		return refuseModel
	}
	return p.spend(w, r, d, &exchange{holder: h, upstream: u, name: name, route: route, path: path, ask: a})
}

// ownHost reports whether a Host header means the proxy: by address or as
// localhost, on any port, for in a sandbox it has another.
func ownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return loopbackName(strings.Trim(host, "[]"))
}

// presented is the token that a request comes with, in any of three ways, or in
// more if it is the same.
func presented(h http.Header) string {
	all := slices.Concat(h["X-Api-Key"], h["X-Goog-Api-Key"])
	for _, v := range h["Authorization"] {
		scheme, token, _ := strings.Cut(v, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		all = append(all, token)
	}
	if len(all) == 0 {
		return ""
	}
	for _, t := range all[1:] {
		if t != all[0] {
			return ""
		}
	}
	return all[0]
}
