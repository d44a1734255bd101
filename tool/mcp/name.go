package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// slug is s in the letters of tool names, without two underscores in a row, so
// that the parts of a name can be told apart.
func slug(s string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(s) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			c = '_'
		}
		if c != '_' || !strings.HasSuffix(b.String(), "_") {
			b.WriteRune(c)
		}
	}
	if out := strings.Trim(b.String(), "_"); out != "" {
		return out
	}
	return "x"
}

// mark tells apart what has the same slug, the same way every time.
func mark(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// toolName is the name that the model uses for a tool of the server with the
// given slug, not one of those taken.
func toolName(server, tool string, taken map[string]bool) string {
	name := "mcp__" + server + "__" + slug(tool)
	if len(name) <= MaxName && !taken[name] {
		return name
	}
	end := "_" + mark(server+"\x00"+tool)
	return name[:min(len(name), MaxName-len(end))] + end
}

// serverSlug is what names have for a server, not one of those taken. It leaves
// room for the tool.
func serverSlug(server string, taken map[string]bool) string {
	const most = 24
	s := slug(server)
	if len(s) <= most && !taken[s] {
		return s
	}
	end := "_" + mark(server)
	return strings.TrimRight(s[:min(len(s), most-len(end))], "_") + end
}
