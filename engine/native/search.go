package native

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"harness"
	"harness/retrieval"
	"harness/tool"
)

const (
	searchHits   = 10   // passages of a search that says nothing else
	searchTokens = 2500 // that they take together; less than what makes an artifact
	searchWider  = 8    // how many more are looked at where a pattern leaves some out
)

// search answers local_search from the session's index of its workspace, and
// says in the log which passages the model was given.
func (r *turn) search(ctx context.Context, env *tool.Env, in tool.SearchInput) (tool.Result, error) {
	if _, err := r.s.index.Refresh(ctx); err != nil {
		return tool.Result{}, err
	}
	limit := cmp.Or(in.Limit, searchHits)
	wide := limit
	if in.Glob != "" {
		wide *= searchWider
	}
	hits, err := r.s.index.Search(ctx, in.Query, wide)
	if err != nil {
		return tool.Result{}, err
	}
	kept := hits[:0]
	for _, h := range hits {
		if len(kept) < limit && (in.Glob == "" || matches(strings.Split(in.Glob, "/"), strings.Split(h.Path, "/"))) {
			kept = append(kept, h)
		}
	}
	if len(kept) == 0 {
		return tool.Result{Text: "Nothing was found. Try other words, or grep for exact text."}, nil
	}
	pack := retrieval.Pack(kept, searchTokens)
	raw, err := json.Marshal(pack)
	if err != nil {
		return tool.Result{}, fmt.Errorf("describe what was found: %w", err)
	}
	if err := r.h.Emit(ctx, &harness.Retrieval{Query: in.Query, Chunks: pack.Chunks(), ContextPack: raw}); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: pack.String()}, nil
}

// matches reports whether a path fits a pattern; ** stands for any folders. A
// pattern of one part fits names anywhere.
func matches(pattern, name []string) bool {
	if len(pattern) == 1 && pattern[0] != "**" {
		ok, err := path.Match(pattern[0], name[len(name)-1])
		return ok && err == nil
	}
	return along(pattern, name)
}

func along(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(name) + 1 {
				if along(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
