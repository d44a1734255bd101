package offline_test

import (
	"strings"
	"testing"

	"harness/model"
	"harness/model/modeltest"
	"harness/model/offline"
)

// FuzzRequest gives it anything to read: every answer is well formed, ends,
// and is the same the second time.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"write `echo hi` to a.sh, then run it", "```\nopen", "run ` and 'x", "\ue000 read \uf8ff", "1. - * ", "say \"a\" and \"b", "then then then", "count to 99999999999999999999", "run x 99 times",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &model.Request{Messages: []model.Message{model.Say(model.User, text)}, Tools: modeltest.Prompt("").Tools}
		a, err := modeltest.Ask(t, offline.New(nil), r)
		b, again := modeltest.Ask(t, offline.New(nil), r)
		if a.Text() != b.Text() || (err == nil) != (again == nil) || len(a.Calls()) != len(b.Calls()) {
			t.Errorf("%q, then %q", a.Text(), b.Text())
		}
		if err == nil && len(a.Calls()) == 0 && strings.TrimSpace(a.Text()) == "" && a.Stop != model.StopEnd {
			t.Error("nothing was said")
		}
	})
}
