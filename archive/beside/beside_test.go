package beside_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
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

// A copy adds to what is there, keeps what only the other has, brings schedules
// up to date, and does not carry what is a server's own.
func TestACopyAddsToWhatIsThere(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	deliver(t, depot, "access/tokens", "text", `{"tokens":[{"name":"a","sha256":"1"}],"owners":[{"server":"x"}]}`)
	deliver(t, depot, "access/logins", "text", `{"id":"secret"}`)
	deliver(t, depot, "schedules", "text", `[{"schedule_id":"s1","done":"2026-01-01T00:00:00Z","outcome":"started"}]`)
	deliver(t, depot, tree, "packs/1.pack", "p", "marks/ses_1/mrk_1", "{}")
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
		"schedules/schedules.json": `[{"schedule_id":"s1","done":"2026-01-01T00:00:00Z","outcome":"started"},{"schedule_id":"s2"}]`,
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

// What is another under the same name is refused.
func TestACopyReplacesNothing(t *testing.T) {
	t.Parallel()
	for place, files := range map[string][3]string{
		"access/tokens": {"text", `{"tokens":[{"name":"a","sha256":"1"}]}`, `{"tokens":[{"name":"a","sha256":"2"}]}`},
		"hooks":         {"text", `[{"name":"a","url":"1"}]`, `[{"name":"a","url":"2"}]`},
		"schedules":     {"text", `[{"schedule_id":"a","prompt":"1","done":"2026-01-02T00:00:00Z"}]`, `[{"schedule_id":"a","prompt":"2","done":"2026-01-01T00:00:00Z"}]`},
		tree:            {"packs/1.pack", "one", "two"},
	} {
		depot := memory.NewDepot()
		deliver(t, depot, place, files[0], files[1])
		data, _ := folder(t)
		deliver(t, data, place, files[0], files[2])
		if c, err := beside.Copy(t.Context(), depot, data); !errors.Is(err, harness.ErrExists) || !reflect.DeepEqual(c, beside.Counted{}) {
			t.Errorf("%s: %+v, %v", place, c, err)
		}
		if err := beside.Verify(t.Context(), depot, data, nil); err == nil {
			t.Errorf("%s: others are the same", place)
		}
	}
}

// What a data directory has no place for is named, file by file, and nothing else
// stays behind for it.
func TestACopyNamesEachFileThatItLeaves(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	deliver(t, depot, "of/tomorrow", "x", "1")
	deliver(t, depot, "hooks", "text", `[{"name":"a"}]`, "more", "1")
	deliver(t, depot, "schedules", "more", "1")
	deliver(t, depot, tree, "packs/../../../token", "1", "packs/1.pack", "p", "marks/ses_1/mrk_1", "{}", "notes/of-tomorrow", "1")
	data, dir := folder(t)
	for _, fresh := range []int{3, 0} {
		c, err := beside.Copy(t.Context(), depot, data)
		want := beside.Counted{Snapshots: 1, Webhooks: 1, New: fresh, Left: []beside.File{
			{Place: "hooks", Name: "more"}, {Place: "of/tomorrow", Name: "x"}, {Place: "schedules", Name: "more"}, {Place: tree, Name: "packs/../../../token"}, {Place: tree, Name: "notes/of-tomorrow"},
		}}
		if err != nil || !reflect.DeepEqual(c, want) {
			t.Errorf("%+v, %v, want %+v", c, err, want)
		}
		if err := beside.Verify(t.Context(), depot, data, c.Left); err != nil {
			t.Error(err)
		}
		if err := beside.Verify(t.Context(), depot, data, c.Left[1:]); !errors.Is(err, harness.ErrCorrupt) {
			t.Errorf("without one that was not named: %v", err)
		}
	}
	var wrote []string
	filepath.WalkDir(dir, func(at string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			wrote = append(wrote, strings.TrimPrefix(at, dir+"/"))
		}
		return err
	})
	in := strings.Replace(tree, "trees", "snapshots", 1)
	if want := []string{"notify/hooks.json", in + "/marks/ses_1/mrk_1", in + "/objects/packs/1.pack"}; !slices.Equal(wrote, want) {
		t.Errorf("it wrote %v", wrote)
	}
	if c, err := beside.Copy(t.Context(), depot, memory.NewDepot()); err != nil || len(c.Left) > 0 || c.New != 8 {
		t.Errorf("into a depot, which has places for all: %+v, %v", c, err)
	}
	d := harness.Delivery{Place: tree, At: harness.AnyVersion, Add: []harness.Parcel{{Name: "packs/2.pack"}, {Name: "notes/2"}}}
	if _, err := data.Deliver(t.Context(), d); !errors.Is(err, harness.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := data.Fetch(t.Context(), tree, "packs/2.pack"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("a delivery that was refused has written: %v", err)
	}
}

// full takes nothing.
type full struct{ beside.Keep }

func (full) Deliver(context.Context, harness.Delivery) (uint64, error) { return 0, harness.ErrStorage }

func TestWhatWasNotDeliveredIsNotCounted(t *testing.T) {
	t.Parallel()
	for place, files := range map[string][]string{
		tree:        {"packs/1.pack", "p", "marks/ses_1/mrk_1", "{}"},
		"schedules": {"text", `[{"schedule_id":"s1"}]`},
	} {
		depot := memory.NewDepot()
		deliver(t, depot, place, files...)
		if c, err := beside.Copy(t.Context(), depot, full{memory.NewDepot()}); !errors.Is(err, harness.ErrStorage) || !reflect.DeepEqual(c, beside.Counted{}) {
			t.Errorf("%s: %+v, %v", place, c, err)
		}
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
