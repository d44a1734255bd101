package harness_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"harness"
)

// TestLacksAreReadAsAnyJSON compares with what reading each field says, for forms
// that are not our own, too.
func TestLacksAreReadAsAnyJSON(t *testing.T) {
	t.Parallel()
	type plain struct {
		Events   []harness.Type `json:"events,omitempty"`
		Commands []string       `json:"commands,omitempty"`
		Settings []string       `json:"settings,omitempty"`
	}
	for _, text := range []string{
		`{}`, `null`, `{"events":[]}`, `{"events":null,"more":1}`, `{"events":["a"],"commands":["b","c"],"settings":["d"]}`, `{"events":[""]}`,
		`{"events":[ "a" , "b" ]}`, `{"commands":["a\"b","c"]}`, `{"commands":["a b"]}`, `{"commands":["a\u0041"]}`, `{"commands":["a","b"],"commands":["c"]}`,
		`{"events":[1]}`, `{"events":"a"}`, `{"events":["a",1]}`, `{"events":["a",["b"]]}`, `[]`,
		`{"events":["a",null,"b"]}`, `{"events":["a",["x"],"b"]}`, `{"commands":["a",{"x":"y"},"b"]}`, `{"commands":["",""]}`, `{"commands":["","\",\""]}`,
	} {
		var got harness.Lacks
		var want plain
		one, two := json.Unmarshal([]byte(text), &got), json.Unmarshal([]byte(text), &want)
		if (one == nil) != (two == nil) {
			t.Errorf("%s: %v, want %v", text, one, two)
		} else if one == nil && !reflect.DeepEqual(plain(got), want) && len(got.Events)+len(want.Events) > 0 {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
