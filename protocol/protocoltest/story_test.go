package protocoltest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"harness/protocol/protocoltest"
)

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			t.Parallel()
			protocoltest.Load(t, f).Play(t)
		})
	}
}
