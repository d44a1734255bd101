package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/workspace"
)

// oddNames are names that some program somewhere gets wrong.
var oddNames = []string{"a", "b", "c.txt", "with space", "new\nline", "\xff\xfe", "e\u0301", "é", "😀", "-rf", "A", "'\"$`", "..."}

// mess changes a tree at random, by every kind of change there is.
func mess(t testing.TB, r *rand.Rand, dir string, changes int) {
	t.Helper()
	all := func(keep func(os.FileInfo) bool) (list []string) {
		filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
			if err == nil && keep(info) {
				list = append(list, p)
			}
			return nil
		})
		return list
	}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	content := func() []byte {
		switch r.IntN(4) {
		case 0:
			return nil
		case 1:
			return []byte{0, byte(r.IntN(256)), 0}
		}
		return []byte(strings.Repeat(fmt.Sprintf("line %d\n", r.IntN(5)), r.IntN(200)))
	}
	for range changes {
		dirs := all(func(i os.FileInfo) bool { return i.IsDir() })
		files := all(func(i os.FileInfo) bool { return i.Mode().IsRegular() })
		names := all(func(os.FileInfo) bool { return true })
		target := filepath.Join(pick(dirs), oddNames[r.IntN(len(oddNames))])
		switch r.IntN(9) {
		case 0, 1, 2: // a file, in place of whatever is there
			os.RemoveAll(target)
			must(t, os.WriteFile(target, content(), os.FileMode(0o600+r.IntN(2)*0o111)))
		case 3: // a directory, perhaps in place of a file
			os.RemoveAll(target)
			must(t, os.Mkdir(target, os.FileMode(0o700+r.IntN(2)*0o055)))
		case 4: // a link: to nothing, to itself, upwards
			os.RemoveAll(target)
			must(t, os.Symlink([]string{"nowhere", ".", "..", filepath.Base(target), "/"}[r.IntN(5)], target))
		case 5: // gone
			if p := pick(names); p != dir {
				must(t, os.RemoveAll(p))
			}
		case 6: // edited in place
			if len(files) > 0 {
				must(t, os.WriteFile(pick(files), content(), 0))
			}
		case 7: // mode only
			if len(files) > 0 {
				must(t, os.Chmod(pick(files), os.FileMode(0o400+r.IntN(0o400))))
			}
		case 8: // moved
			if from := pick(names); from != dir && !strings.HasPrefix(target+"/", from+"/") {
				os.RemoveAll(target)
				os.Rename(from, target)
			}
		}
	}
}

// TestRewindRestoresExactlyTheTreeAtTheMark takes marks of random trees between
// random changes and goes back and forth among them. Whatever the way, the tree
// is then what it was, and undoing gives what was before.
func TestRewindRestoresExactlyTheTreeAtTheMark(t *testing.T) {
	t.Parallel()
	seeds := 6
	if os.Getenv("LONG") != "" {
		seeds = 2000
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			tree, dir := open(t, nil)
			var marks []workspace.Mark
			var sights []string
			for range 5 {
				mess(t, r, dir, 1+r.IntN(40))
				marks = append(marks, take(t, tree, workspace.Before))
				sights = append(sights, sight(t, dir))
			}
			for range 8 {
				if r.IntN(2) == 0 {
					mess(t, r, dir, 1+r.IntN(20))
				}
				before := sight(t, dir)
				i := r.IntN(len(marks))
				plan, err := tree.Plan(t.Context(), session, marks[i].ID, true)
				must(t, err)
				wantSight(t, "after a dry run", dir, before)
				res := rewind(t, tree, marks[i], true)
				wantSight(t, "after the rewind", dir, sights[i])
				if again := take(t, tree, workspace.After); res.After.ID != "" && (again.Root != res.After.Root || again.Files != res.After.Files) {
					t.Fatalf("the mark after the rewind is not of the tree after it: %+v, looked at again: %+v", res.After, again)
				}
				if paths(plan.Restore) != paths(res.Restore) || paths(plan.Delete) != paths(res.Delete) || plan.Insertions != res.Insertions || plan.Deletions != res.Deletions {
					t.Fatalf("the plan said\n%+v\nthe rewind did\n%+v", plan, res.Plan)
				}
				if res.Safety.ID != "" && r.IntN(2) == 0 {
					undo := rewind(t, tree, res.Safety, false)
					wantSight(t, "after undoing", dir, before)
					if undo.Insertions != res.Deletions || undo.Deletions != res.Insertions {
						t.Fatalf("undoing +%d -%d took +%d -%d lines", res.Insertions, res.Deletions, undo.Insertions, undo.Deletions)
					}
				}
			}
			_, err := tree.Collect(t.Context())
			must(t, err)
			rewind(t, tree, marks[0], true)
			wantSight(t, "after a collection", dir, sights[0])
		})
	}
}
