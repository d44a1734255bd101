package offline_test

import (
	"strings"
	"testing"
	"time"

	"harness/model"
	"harness/model/modeltest"
	"harness/model/offline"
)

func TestLongRequestsAreAnsweredSoon(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"word and ", "`", "' ", "\"a ", "run `x`, ", "\n", "a, ", "then ", "write a to b "} {
		for _, size := range []int{16 << 10, 2 << 20} {
			begin := time.Now()
			r := &model.Request{Messages: []model.Message{model.Say(model.User, strings.Repeat(s, size/len(s)))}, Tools: modeltest.Prompt("").Tools}
			if _, err := modeltest.Ask(t, offline.New(nil), r); err != nil {
				t.Error(err)
			}
			if d := time.Since(begin); d > 20*time.Second { // some ms by itself, more beside other tests
				t.Errorf("%d bytes of %q took %s", size, s, d)
			}
		}
	}
}
