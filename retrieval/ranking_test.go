package retrieval_test

import (
	"os"
	"testing"

	"harness/retrieval"
)

// TestQuestionsFindTheirPage asks this repository's own documentation.
func TestQuestionsFindTheirPage(t *testing.T) {
	t.Parallel()
	x := retrieval.Open(os.DirFS("../docs"), nil)
	if r := refresh(t, x); r.Files < 20 || r.Pending != 0 {
		t.Fatalf("report %+v", r)
	}
	for query, want := range map[string]string{
		"why is there no event bus":             "adr/0005-no-bus-shared-tail.md",
		"what happens to finished messages":     "adr/0008-finished-messages-are-sealed.md",
		"watching a session that sleeps":        "adr/0010-watching-a-sleeping-session.md",
		"approval always: a rule of directory":  "adr/0011-always-is-a-rule-of-the-directory.md",
		"init functions or tables":              "adr/0007-tables-instead-of-init.md",
		"one pure machine decides, step, ready": "adr/0002-one-pure-machine.md",
		"what does the sandbox enforce":         "sandbox.md",
		"bounds of snapshots of files":          "workspaces.md",
		"modernc sqlite dependency version":     "dependencies.md",
		"price table of models, usage and cost": "models.md",
		"bubblewrap landlock namespaces":        "sandbox.md",
	} {
		hits := search(t, x, query, 3)
		if len(hits) == 0 || hits[0].Path != want {
			t.Errorf("%q finds %v, want %s first", query, places(hits), want)
		}
	}
}
