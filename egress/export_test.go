package egress

import (
	"context"
	"io"
	"net/netip"
)

// CheckAddress is the rule of addresses.
func CheckAddress(a netip.Addr, private bool) error { return checkAddress(a, private) }

// PlainName is the rule of names.
func PlainName(s string) (string, bool) { return plainName(s) }

// Allow is the rule of lists.
func Allow(list []string, name string) (bool, error) {
	d, err := parseDomains(list)
	return d.allow(name), err
}

// Fields is how bodies are read.
var Fields = fields

// Meter reads an answer in parts.
type Meter struct{ m *meter }

// NewMeter is for events or for a single text.
func NewMeter(events bool) Meter { return Meter{newMeter(events)} }

func (m Meter) Write(b []byte) (int, error) { m.m.write(b); return len(b), nil }

// End is the usage.
func (m Meter) End(asked string, sent, most int64) Usage { return m.m.end(asked, sent, most) }

// Came says that the answer has come whole.
func (m Meter) Came() { m.m.came = true }

var _ io.Writer = Meter{}

// MaxOpen is how many requests of a token may be open.
const MaxOpen = maxOpen

// Account is the budget of a grant.
type Account struct{ b *budget }

// NewAccount opens one.
func NewAccount(tokens, requests int64) Account { return Account{newBudget(tokens, requests)} }

// Admit says what became of a request.
func (a Account) Admit(ctx context.Context, most int64) string {
	v, err := a.b.admit(ctx, most)
	if err != nil {
		return err.Error()
	}
	return map[verdict]string{granted: "granted", spent: "spent", tooMany: "too many", numbered: "numbered"}[v]
}

// Settle ends a request.
func (a Account) Settle(most, used int64) { a.b.settle(most, used) }

// GoogleBound is how many tokens a request to Google may use.
func GoogleBound(body []byte) (int64, error) {
	a, err := readGoogle(body, "m")
	if err != nil {
		return 0, err
	}
	return a.bound(), nil
}
