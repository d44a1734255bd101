package tool

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"harness/internal/glob"
)

// pattern compiles a pattern of names below dir. It may begin with the
// workspace's own path.
func pattern(p, workspace, dir string) (fits func(name string) bool, err error) {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(workspace, "/")+"/"); ok {
		p, dir = rest, "."
	}
	p = strings.TrimPrefix(p, "./")
	if !strings.Contains(p, "/") {
		p = "**/" + p
	}
	expr, err := glob.Lenient(p)
	if err != nil || path.IsAbs(p) {
		return nil, fmt.Errorf("%q is not a pattern of file names relative to the workspace", p)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%q is not a pattern of file names: %w", p, err)
	}
	prefix := ""
	if dir != "." {
		prefix = dir + "/"
	}
	return func(name string) bool {
		rel, below := strings.CutPrefix(name, prefix)
		return below && re.MatchString(rel)
	}, nil
}
