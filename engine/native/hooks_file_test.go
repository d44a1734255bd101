package native_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"harness"
	"harness/engine/native"
)

func TestAFileOfHooksIsReadStrictly(t *testing.T) {
	t.Parallel()
	got, err := native.ParseHooks([]byte(`{"hooks":[{"on":"before_tool","tools":"ba*","command":"true","timeout":"10s"},{"on":"stop","command":"x"}]}`))
	want := []native.Hook{{On: native.HookBeforeTool, Tools: "ba*", Command: "true", Timeout: 10 * time.Second}, {On: native.HookStop, Command: "x"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, text := range []string{
		``, `[]`, `{"hook":[]}`, `{"hooks":[{"on":"before","command":"x"}]}`, `{"hooks":[{"on":"stop"}]}`, `{"hooks":[{"on":"stop","command":"x","when":"now"}]}`,
		`{"hooks":[{"on":"stop","command":"x","timeout":"soon"}]}`, `{"hooks":[{"on":"stop","command":"x","timeout":"-1s"}]}`, `{"hooks":[{"on":"stop","command":"x","tools":"["}]}`,
	} {
		if list, err := native.ParseHooks([]byte(text)); !errors.Is(err, harness.ErrInvalid) || list != nil {
			t.Errorf("%s: %+v, %v", text, list, err)
		}
	}
}
