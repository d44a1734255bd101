package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// axe is axe-core's script, which npm ci brings; without it there is nothing to
// ask.
func axe(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("run make deps: %v", err)
	default:
		t.Logf("nobody asks whether it is accessible: run make deps: %v", err)
	}
	return string(script)
}

// accessible asks axe what is wrong with the page as it is.
func (p *page) accessible(script, where string) {
	p.t.Helper()
	if script == "" {
		return
	}
	if !eval[bool](p, "typeof axe !== 'undefined'") {
		eval[bool](p, script+"; true")
	}
	var found []struct {
		ID    string
		Help  string
		Nodes []struct {
			HTML           string
			FailureSummary string
		}
	}
	text := eval[string](p, `axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations))`)
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range found {
		var nodes []string
		for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
			nodes = append(nodes, fmt.Sprintf("%.200s\n      %s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", " ")))
		}
		p.t.Errorf("%s: %s (%s), %d times:\n    %s", where, v.ID, v.Help, len(v.Nodes), strings.Join(nodes, "\n    "))
	}
}
