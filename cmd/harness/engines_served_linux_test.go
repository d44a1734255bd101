package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"harness"
)

// TestAServerSaysWhatItsBridgeLacks over HTTP, before the program has run.
func TestAServerSaysWhatItsBridgeLacks(t *testing.T) {
	t.Parallel()
	for _, f := range fidelities() {
		if len(f.programs) == 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			key := write(t, filepath.Join(t.TempDir(), "key"), modelKey)
			p := start(t, "--engine", f.name+":/bin/cat", "--key", "anthropic=file:"+key, "--key", "openai=file:"+key)
			status, body := p.get("/engines", nil)
			var got struct {
				Engines []struct {
					Engine   string
					Default  bool
					Events   []harness.Type
					Commands []string
					Lacks    *harness.Lacks
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || len(got.Engines) != 1 {
				t.Fatalf("%d %s %v", status, body, err)
			}
			row := got.Engines[0]
			if row.Engine != f.name || !row.Default || !slices.Equal(row.Events, f.can.Events()) || !slices.Equal(row.Commands, f.can.Commands()) {
				t.Errorf("the engine is %+v", row)
			}
			if row.Lacks == nil || len(row.Lacks.Events) == 0 || !row.Lacks.Equal(f.can.Lacks()) {
				t.Errorf("it lacks %+v, want %+v", row.Lacks, f.can.Lacks())
			}
			for _, kind := range row.Lacks.Events {
				if slices.Contains(row.Events, kind) {
					t.Errorf("it has %s, and lacks it", kind)
				}
			}
		})
	}
}
