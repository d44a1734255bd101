package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"harness"
	"harness/engine/internal/talk"
)

// maxFile bounds a file that an agent has us read.
const maxFile = 10 << 20

type fileRequest struct {
	Session string `json:"sessionId"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // from 1
	Limit   int    `json:"limit"`
	Content string `json:"content"`
}

// file reads or writes a file of the workspace for the agent.
func (r *run) file(ctx context.Context, m *talk.Message) error {
	var f fileRequest
	if err := m.Read(&f); err != nil {
		return err
	}
	name, ok := inside(r.turn.Directory, f.Path)
	if !ok {
		return r.talk.Refuse(m.ID, talk.CodeInvalid, f.Path+" is not in the workspace")
	}
	use := harness.ToolUse{Tool: m.Method, Access: harness.AccessRead, Description: m.Method + " " + name, Input: input(map[string]any{"path": name})}
	if m.Method == "fs/read_text_file" {
		return r.permit(ctx, m, use, r.covers(f.Path, false), func(ctx context.Context, c *talk.Call) (any, error) { return r.readFile(ctx, c, name, &f) })
	}
	use.Access, use.Input = r.access(&update{Tool: "edit", Locations: []location{{f.Path}}}), input(map[string]any{"path": name, "content": f.Content})
	return r.permit(ctx, m, use, r.covers(f.Path, true), func(ctx context.Context, c *talk.Call) (any, error) { return r.writeFile(ctx, c, name, &f) })
}

func (r *run) readFile(ctx context.Context, c *talk.Call, name string, f *fileRequest) (any, error) {
	file, err := r.slot.Process.Work.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	s := excerpt(string(b), f.Line, f.Limit)
	return map[string]string{"content": s}, r.close(ctx, c, talk.End{Output: s})
}

// excerpt is limit lines of a text from a line on.
func excerpt(s string, line, limit int) string {
	if line <= 1 && limit <= 0 {
		return s
	}
	all := strings.SplitAfter(s, "\n")
	from := min(max(0, line-1), len(all))
	to := len(all)
	if limit > 0 {
		to = min(to, from+limit)
	}
	return strings.Join(all[from:to], "")
}

func (r *run) writeFile(ctx context.Context, c *talk.Call, name string, f *fileRequest) (any, error) {
	perm := fs.FileMode(0o644)
	info, err := fs.Stat(r.slot.Process.Work, name)
	switch {
	case err == nil:
		perm = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := r.slot.Process.Work.WriteFile(name, []byte(f.Content), perm); err != nil {
		return nil, err
	}
	return struct{}{}, r.close(ctx, c, talk.End{Output: fmt.Sprintf("%d bytes", len(f.Content))})
}

// close tells how a call of ours ended, if it is one.
func (r *run) close(ctx context.Context, c *talk.Call, e talk.End) error {
	if c == nil {
		return nil
	}
	return r.talk.Emit(ctx, r.tr.calls.Close(c, e)...)
}

// input is what goes into a call, as JSON.
func input(m map[string]any) json.RawMessage {
	b, err := json.Marshal(m)
	if err != nil {
		panic("acp: an input that is no JSON: " + err.Error())
	}
	return b
}
