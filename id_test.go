package harness_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"harness"
)

func TestIdentifiersFromOutside(t *testing.T) {
	t.Parallel()
	good := []string{"a", "ses_1", "A.b:c-d_9", strings.Repeat("x", harness.MaxID), "-", "a..b", "C:"}
	bad := []string{"", ".", ".hidden", "../up", "a/b", `a\b`, "a b", "a\x00", "é", "a\n", strings.Repeat("x", harness.MaxID+1), "a%2f", "a?b", "\xff"}
	for _, s := range good {
		if id, err := harness.ParseSessionID(s); err != nil || string(id) != s {
			t.Errorf("ParseSessionID(%q): %q, %v", s, id, err)
		}
	}
	for _, s := range bad {
		if _, err := harness.ParseSessionID(s); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("ParseSessionID(%q): %v", s, err)
		}
	}
}

func TestEventIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id  harness.SessionID
		seq harness.Seq
	}{{"ses_x", 1}, {"a.b.7", 18446744073709551615}, {"x:y-z", 42}} {
		s := harness.EventID(c.id, c.seq)
		if id, seq, err := harness.ParseEventID(s); err != nil || id != c.id || seq != c.seq {
			t.Errorf("ParseEventID(%q): %s, %d, %v", s, id, seq, err)
		}
	}
	for _, s := range []string{"", "ses_x", "ses_x.", "ses_x.0", "ses_x.-1", ".1", "ses_x.1x", "ses_x.18446744073709551616", "a/b.1"} {
		if _, _, err := harness.ParseEventID(s); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("ParseEventID(%q): %v", s, err)
		}
	}
}

func TestAnApprovalSaysWhereItWasAsked(t *testing.T) {
	t.Parallel()
	a := harness.ApprovalAt("ses_x.y", 17)
	if id, seq, err := a.Place(); err != nil || id != "ses_x.y" || seq != 17 {
		t.Errorf("%s: %s, %d, %v", a, id, seq, err)
	}
	for _, bad := range []harness.ApprovalID{"", "apr_", "apr_123", "ses_x.17", "apr_ses_x.0", "apr_../x.1", "apr_.1"} {
		if _, _, err := bad.Place(); !errors.Is(err, harness.ErrNoApproval) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestMintedIdentifiersSortByTime(t *testing.T) {
	t.Parallel()
	last := ""
	for ms := range int64(2000) {
		entropy := [10]byte{byte(255 - ms%256)}
		id := harness.MintID(harness.TurnPrefix, time.UnixMilli(1_700_000_000_000+ms*977), entropy)
		if id <= last || harness.CheckID("id", id) != nil || len(id) != len(harness.TurnPrefix)+26 {
			t.Fatalf("%q after %q", id, last)
		}
		last = id
	}
	a, b := harness.DefaultSession("ada"), harness.DefaultSession("bob")
	if a == b || a != harness.DefaultSession("ada") || harness.CheckID("id", string(harness.DefaultSession("ö/../\x00"))) != nil {
		t.Errorf("default sessions %s and %s", a, b)
	}
}
