package main

import (
	"net/http"
	"strings"
	"testing"
)

// Metrics count everybody's work and name nobody; they are for whoever runs the
// server.
func TestMetricsAreTheAdministrators(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "ask")
	h.question(t, id)
	for _, who := range []string{"", "ada", "bob"} {
		if got := h.send(t, ask{as: who, method: "GET", path: "/metrics"}); got.status != http.StatusUnauthorized && got.status != http.StatusForbidden {
			t.Errorf("%q sees them: %d", who, got.status)
		}
	}
	got := h.send(t, ask{as: "owner", method: "GET", path: "/metrics"})
	for _, want := range []string{`harness_sessions{status="awaiting_approval"} `, `harness_events_total{type="approval_required"} `, "harness_commit_seconds_count ", `harness_watchers{protocol="websocket"} `} {
		if !strings.Contains(got.body, "\n"+want) {
			t.Errorf("no %s in %d:\n%s", want, got.status, got.body)
		}
	}
	if strings.Contains(got.body, id) || strings.Contains(got.body, `"ada"`) {
		t.Error("somebody is named")
	}
}
