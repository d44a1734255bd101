package beside_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/archive/beside"
	"harness/store/memory"
)

func deliver(t *testing.T, k beside.Keep, place string, files ...string) {
	t.Helper()
	d := harness.Delivery{Place: place, At: harness.AnyVersion}
	for i := 0; i < len(files); i += 2 {
		p := harness.Parcel{Name: files[i], Content: []byte(files[i+1])}
		if strings.HasPrefix(p.Name, "marks/") {
			p.Session = "ses_1"
		}
		d.Add = append(d.Add, p)
	}
	if _, err := k.Deliver(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T) (*beside.Folder, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := beside.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

const tree = "trees/0123456789abcdef0123"

// A copy adds to what is there, keeps what only the other has, and does not
// carry what is a server's own.
func TestACopyAddsAndReplacesNothing(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	deliver(t, depot, "access/tokens", "text", `{"tokens":[{"name":"a","sha256":"1"}],"owners":[{"server":"x"}]}`)
	deliver(t, depot, "access/logins", "text", `{"id":"secret"}`)
	deliver(t, depot, "schedules", "text", `[{"schedule_id":"s1","outcome":"started"}]`)
	deliver(t, depot, tree, "packs/1.pack", "p", "marks/ses_1/mrk_1", "{}", "journal", "{}")
	data, dir := folder(t)
	deliver(t, data, "access/tokens", "text", `{"tokens":[],"scoped":[{"name":"b","scope":["x"]}]}`)
	deliver(t, data, "schedules", "text", `[ {"schedule_id":"s1"} , {"schedule_id":"s2"} ]`)
	for again := range 2 {
		c, err := beside.Copy(t.Context(), depot, data)
		if err != nil || c.Tokens != 1 || c.Schedules != 1 || c.Snapshots != 1 || len(c.Left) > 0 || again == 1 && c.New != 0 {
			t.Fatalf("%+v, %v", c, err)
		}
		if err := beside.Verify(t.Context(), depot, data, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"tokens.json":              `{"scoped":[{"name":"b","scope":["x"]}],"tokens":[{"name":"a","sha256":"1"}]}`,
		"schedules/schedules.json": `[{"schedule_id":"s1","outcome":"started"},{"schedule_id":"s2"}]`,
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := beside.Copy(t.Context(), data, depot); err != nil {
		t.Fatal(err)
	}
	if err := beside.Verify(t.Context(), data, depot, nil); err != nil {
		t.Error(err)
	}
}

// What is another under the same name is refused, and what a data directory has
// no place for is named.
func TestACopySaysWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for place, files := range map[string][3]string{
		"access/tokens": {"text", `{"tokens":[{"name":"a","sha256":"1"}]}`, `{"tokens":[{"name":"a","sha256":"2"}]}`},
		"hooks":         {"text", `[{"name":"a","url":"1"}]`, `[{"name":"a","url":"2"}]`},
		tree:            {"packs/1.pack", "one", "two"},
	} {
		depot := memory.NewDepot()
		deliver(t, depot, place, files[0], files[1])
		data, _ := folder(t)
		deliver(t, data, place, files[0], files[2])
		if _, err := beside.Copy(t.Context(), depot, data); !errors.Is(err, harness.ErrExists) {
			t.Errorf("%s: %v", place, err)
		}
		if err := beside.Verify(t.Context(), depot, data, nil); err == nil {
			t.Errorf("%s: others are the same", place)
		}
	}
	depot := memory.NewDepot()
	deliver(t, depot, "of/tomorrow", "x", "1")
	deliver(t, depot, tree, "packs/../../../token", "1")
	data, dir := folder(t)
	c, err := beside.Copy(t.Context(), depot, data)
	if err != nil || !slices.Equal(c.Left, []string{"of/tomorrow", tree}) {
		t.Errorf("%+v, %v", c, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("it wrote %v, %v", all, err)
	}
}

// A check of a data directory compares content with what names and tables say.
func TestACheckReadsPacksAndArtifacts(t *testing.T) {
	t.Parallel()
	data, _ := folder(t)
	a := harness.NewArtifact("ses_1", "diff", "", []byte("content"))
	_, name, err := harness.ParseArtifactID(a.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, data, "artifacts/ses_1", name, "content")
	if c, err := beside.Check(t.Context(), data, func(place, name string, err error) { t.Error(place, name, err) }); err != nil || c.Files != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	deliver(t, data, "artifacts/ses_1", name, "another")
	deliver(t, data, tree, "packs/1.pack", "no pack at all, but long enough to have a table")
	deliver(t, data, "hooks", "text", `[{}]`)
	var told []string
	c, err := beside.Check(t.Context(), data, func(place, _ string, err error) {
		told = append(told, place)
		if !errors.Is(err, harness.ErrCorrupt) {
			t.Error(err)
		}
	})
	if want := "artifacts/ses_1 hooks " + tree; err != nil || c.Damaged != 3 || strings.Join(told, " ") != want {
		t.Errorf("%+v, %v: %v", c, err, told)
	}
}
