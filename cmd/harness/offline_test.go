package main

import (
	"strings"
	"testing"

	"harness"
)

// TestAServerWithoutAProviderHasNoModelToChoose: a session that names one fails
// and says why; one that names none, or the offline model, is answered.
func TestAServerWithoutAProviderHasNoModelToChoose(t *testing.T) {
	t.Parallel()
	p := start(t, "--engine", "native", "--model", "offline", "--pace", "0s")
	for model, ends := range map[string]harness.Status{"": harness.StatusCompleted, "offline": harness.StatusCompleted, "foo": harness.StatusFailed} {
		id := strings.TrimSpace(mustRun(t, "sessions", "start", "--connect", p.http, "--model", model, "hello"))
		p.becomes(t, id, ends)
		if ends != harness.StatusFailed {
			continue
		}
		_, body := p.get("/sessions/"+id, nil)
		if !strings.Contains(body, `there is no model \"foo\" here: this server has no provider`) {
			t.Errorf("it does not say why: %s", body)
		}
	}
}
