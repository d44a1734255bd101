package native

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"harness"
)

// whyInstructions marks what the model was told from a file of the tree.
const whyInstructions = "instructions"

// instruct tells the model the instructions of folders in which calls have
// worked: those of the folder's own and of all above it, outermost first, once.
// The workspace's own are in the system prompt.
func (r *turn) instruct(ctx context.Context, jobs []*job) error {
	if r.env == nil || r.e.opts.Plain {
		return nil
	}
	for _, dir := range folders(jobs) {
		for _, name := range instructions {
			file := path.Join(dir, name)
			if r.conv.instructed[file] {
				continue
			}
			text := readText(r.env.Workspace, file, maxInstructions)
			if text == "" {
				continue
			}
			told := &harness.HookEvent{Kind: hookTold, Status: whyInstructions, Actor: file, Reason: fmt.Sprintf("<instructions file=%q>\n%s\n</instructions>", file, text)}
			if err := r.emit(ctx, told); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// folders are those in which calls have worked, and those above them, but for
// the workspace itself.
func folders(jobs []*job) (dirs []string) {
	for _, j := range jobs {
		for _, key := range j.plan.Keys {
			file, ok := strings.CutPrefix(key, "file:")
			if !ok || j.end.outcome.Status != harness.OutcomeOK {
				continue
			}
			for dir := path.Dir(path.Clean(file)); dir != "." && dir != "/" && !strings.HasPrefix(dir, ".."); dir = path.Dir(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs) // a folder comes before what is in it
	return slices.Compact(dirs)
}
