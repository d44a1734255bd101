package node

import (
	"errors"
	"reflect"
	"testing"

	"harness"
)

// TestEveryCommandIsReadBackAsItWas also counts: a command that is added later
// has its row.
func TestEveryCommandIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	title, mode := "a title", harness.AcceptEdits
	parts := []harness.Part{{Type: "text", Text: "words"}, {Type: "file", Path: "a.go"}}
	all := []harness.Command{
		harness.Submit{Parts: parts, Source: harness.FromResume, OnBusy: harness.Interrupt, ClientKey: "k", Actor: "ada"},
		harness.Steer{Parts: parts, ClientKey: "k", Actor: "ada"},
		harness.Cancel{Turn: "trn_1", ClientKey: "k", Actor: "ada"},
		harness.Answer{Approval: "apr_1", Call: "c", Decision: harness.Decision{Verdict: harness.Deny, Scope: harness.Always, Reason: "no", Actor: "ada", Source: harness.ByUser, Digest: "d"}},
		harness.Configure{Patch: harness.ConfigPatch{PermissionMode: &mode, MaxTurns: new(3)}, Title: &title, ClientKey: "k", Actor: "ada"},
		harness.Rewind{Message: "itm_1", DryRun: true, Force: true, ClientKey: "k", Actor: "ada"},
		harness.Pause{ClientKey: "k", Actor: "ada"},
		harness.Resume{ClientKey: "k", Actor: "ada"},
	}
	if len(all) != len(commands) {
		t.Errorf("%d commands, %d rows", len(all), len(commands))
	}
	for _, cmd := range all {
		body, err := encode(cmd, "made up")
		if err != nil {
			t.Fatalf("%T: %v", cmd, err)
		}
		if back, err := decode(body); err != nil || !reflect.DeepEqual(back, cmd) {
			t.Errorf("%s\nis read back as %+v, %v\nwant %+v", body, back, err, cmd)
		}
	}
	body, err := encode(harness.Pause{}, "made up")
	if back, _ := decode(body); err != nil || back != (harness.Pause{ClientKey: "made up"}) {
		t.Errorf("without a key: %+v, %v", back, err)
	}
}

// TestANeighbouringVersionIsUnderstood reads orders and answers of a node that is
// one version ahead.
func TestANeighbouringVersionIsUnderstood(t *testing.T) {
	t.Parallel()
	cmd, err := decode([]byte(`{"kind":"cancel","news":1,"body":{"Turn":"trn_1","ClientKey":"k","Gently":true}}`))
	if cmd != (harness.Cancel{Turn: "trn_1", ClientKey: "k"}) || err != nil {
		t.Errorf("an order with news in it: %+v, %v", cmd, err)
	}
	if _, err := decode([]byte(`{"kind":"levitate","body":{}}`)); !errors.Is(err, harness.ErrUnsupported) {
		t.Errorf("an order that is not known: %v", err)
	}
	if r, err := outcome([]byte(`{"receipt":{"Seq":7,"Turn":"trn_1","Mood":"good"},"news":2}`)); r.Seq != 7 || r.Turn != "trn_1" || err != nil {
		t.Errorf("an answer with news in it: %+v, %v", r, err)
	}
	if _, err := outcome([]byte(`{"code":"too_heavy","text":"it is too heavy"}`)); harness.AsError(err) != harness.ErrInternal {
		t.Errorf("an error that is not known: %v", err)
	}
	for _, want := range harness.Errors() {
		if _, err := outcome(reply(harness.Receipt{}, want)); !errors.Is(err, want) {
			t.Errorf("%s comes back as %v", want.Code, err)
		}
	}
}
