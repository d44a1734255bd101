package harness_test

import (
	"reflect"
	"slices"
	"testing"

	"harness"
)

// TestThreeKindsStream: the kernel merges these and no other, and a frame that
// has another does not wait.
func TestThreeKindsStream(t *testing.T) {
	t.Parallel()
	var got []harness.Type
	for _, info := range harness.Inventory() {
		p := info.New()
		if field := reflect.ValueOf(p).Elem().FieldByName("Text"); field.IsValid() && field.Kind() == reflect.String {
			field.SetString("some text")
		}
		switch text, ok := harness.Streamed(p); {
		case ok && text != "some text":
			t.Errorf("%s streams %q", info.Type, text)
		case ok:
			got = append(got, info.Type)
		}
	}
	slices.Sort(got)
	if want := []harness.Type{"thinking", "token", "tool_log"}; !slices.Equal(got, want) {
		t.Errorf("%q stream, want %q", got, want)
	}
}
