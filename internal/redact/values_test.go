package redact_test

import (
	"testing"

	"harness/internal/redact"
)

func TestValuesLeavesWhatOnlyLooksLikeASecret(t *testing.T) {
	t.Parallel()
	r, err := redact.Values("the-value-itself")
	if err != nil {
		t.Fatal(err)
	}
	const text = "sk-ant-api03-abcdefghijklmnop0123456789 ghp_abcdefghijklmnopqrstuvwxyz0123456789 "
	s := r.Stream()
	got := string(s.End(s.Next(s.Next(nil, []byte(text+"the-value")), []byte("-itself and more"))))
	if want := text + redact.Mark + " and more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := redact.Values("short"); err == nil {
		t.Error("a value that would be found everywhere was taken")
	}
}
