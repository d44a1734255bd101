package native_test

import (
	"strings"
	"testing"

	"harness"
	"harness/model"
	"harness/model/offline"
)

// Without a key and without a network, the stand-in does real work through the
// real tools.
func TestTheOfflineModelDoesWhatIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, file, text, says string }{
		{"write `echo hi-$((40+2))` to hello.sh, then run `sh hello.sh`, then tell me what it printed", "hello.sh", "echo hi-$((40+2))", "hi-42"},
		{"create a file notes.txt with `milk`, then read notes.txt", "notes.txt", "milk", "milk"},
		{"run `printf 'a b'`", "", "", "a b"},
		{"delegate to a subagent: run `echo from-below`", "", "", "from-below"},
	} {
		t.Run(c.prompt, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "chat", "say never asked", func(r *rig) {
				r.opts.Model, r.opts.Provider = "offline", offline.Provider
				r.through = func(model.Client) model.Client { return offline.New(nil) }
			})
			st := r.prompt(c.prompt)
			if st.Status != harness.Idle || !strings.Contains(r.said(), c.says) {
				t.Errorf("%s, said %q\n%s", st.Status, r.said(), r.story())
			}
			if c.file != "" && strings.TrimSpace(r.file(c.file)) != c.text {
				t.Errorf("%s has %q", c.file, r.file(c.file))
			}
			for _, u := range all[*harness.Usage](r) {
				if u.CostUSD == nil || *u.CostUSD != 0 {
					t.Errorf("usage %+v", u)
				}
			}
		})
	}
}
