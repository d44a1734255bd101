package workspace

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Paths are names joined by slashes, relative to the tree, bytes as on disk.

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func split(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

func depth(path string) int { return strings.Count(path, "/") + 1 }

// Printable is path in a form that fits a line of text and a JSON string:
// itself, or quoted if it has bytes that would not survive there.
func Printable(path string) string {
	if utf8.ValidString(path) && strings.IndexFunc(path, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return path
	}
	return strconv.Quote(path)
}
