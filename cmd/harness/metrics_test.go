package main

import (
	"net/http"
	"os"
	"regexp"
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
	for _, want := range []string{
		`harness_sessions{status="awaiting_approval"} `, `harness_sessions{status="queued"} 0`, // by status
		`harness_events_total{type="approval_required"} `, // a rate
		"harness_commit_seconds_count ",
		`harness_watchers{protocol="websocket"} `, `harness_watchers{protocol="sse"} `, `harness_watchers{protocol="jsonrpc"} `,
		"harness_approvals_waiting ", "harness_budgets_tripped_total 0", "harness_processes ",
	} {
		if !strings.Contains(got.body, "\n"+want) {
			t.Errorf("no %s in %d:\n%s", want, got.status, got.body)
		}
	}
	if strings.Contains(got.body, id) || strings.Contains(got.body, "ses_") || strings.Contains(got.body, `"ada"`) {
		t.Error("somebody is named")
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(harness_[a-z_]+)`").FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (harness_[a-z_]+) `).FindAllStringSubmatch(got.body, -1) {
		if !listed[m[1]] {
			t.Errorf("the page does not have %s", m[1])
		}
	}
}
