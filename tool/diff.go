package tool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"harness/internal/lazy"
)

// hunk is one change of a unified diff. Lines are without their ends.
type hunk struct {
	at       int // the line it says it begins with; 0 if it does not say
	old, new []string
	// oldOpen and newOpen say that the last line has no newline.
	oldOpen, newOpen bool
}

// diff is a unified diff of one file.
type diff struct {
	path  string // as its header says, "" without one
	hunks []hunk
}

var hunkHeader = lazy.Regexp{Expr: `^@@(?: -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))?)? ?@@`}

// parseDiff reads a unified diff. Numbers of lines are hints, as models count
// badly: what a hunk consists of is what is there.
func parseDiff(text string) (diff, error) {
	var d diff
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	for i := 0; i < len(lines); {
		switch line := lines[i]; {
		case isFileHeader(lines, i):
			if d.path != "" || len(d.hunks) > 0 {
				return d, errors.New("the diff is about more than one file; make one call for each")
			}
			d.path = headerPath(lines[i], lines[i+1])
			if d.path == "" {
				return d, errors.New("the diff deletes a file, which patch does not do; use bash")
			}
			i += 2
		case strings.HasPrefix(line, "@@"):
			h, next, err := parseHunk(lines, i)
			if err != nil {
				return d, err
			}
			d.hunks, i = append(d.hunks, h), next
		case len(d.hunks) > 0 && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "diff ") && !strings.HasPrefix(line, "index "):
			return d, fmt.Errorf("line %d of the diff does not begin with a space, + or -: %q", i+1, oneLine(line, 80))
		case strings.HasPrefix(line, "rename ") || strings.HasPrefix(line, "GIT binary"):
			return d, fmt.Errorf("patch does not do this: %q", oneLine(line, 80))
		default:
			i++
		}
	}
	if len(d.hunks) == 0 {
		return d, errors.New("the diff has no hunk: a line with @@ and lines that begin with a space, + or -")
	}
	return d, nil
}

func isFileHeader(lines []string, i int) bool {
	return strings.HasPrefix(lines[i], "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ")
}

// headerPath is the file that a header names, "" if it is deleted.
func headerPath(from, to string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(to, "+++ "), "\t")
	if name == "/dev/null" {
		return ""
	}
	if strings.HasPrefix(from, "--- a/") || strings.HasPrefix(from, "--- /dev/null") {
		name = strings.TrimPrefix(name, "b/")
	}
	return strings.TrimSpace(name)
}

// parseHunk reads the hunk whose header is line i, and returns where it ends.
func parseHunk(lines []string, i int) (h hunk, next int, err error) {
	m := hunkHeader.Get().FindStringSubmatch(lines[i])
	if m == nil {
		return h, 0, fmt.Errorf("line %d of the diff is not the header of a hunk, such as @@ -12,4 +12,5 @@: %q", i+1, oneLine(lines[i], 80))
	}
	h.at, _ = strconv.Atoi(m[1])
	wantOld, wantNew := count(m[1], m[2]), count(m[1], m[3])
	i++
	changed := false
	for ; i < len(lines); i++ {
		line := lines[i]
		full := len(h.old) >= wantOld && len(h.new) >= wantNew
		if line == "" {
			if rest := strings.TrimSpace(strings.Join(lines[i:], "")); full && (rest == "" || strings.HasPrefix(rest, "diff ") || strings.HasPrefix(rest, "@@")) {
				break
			}
			line = " " // an empty line that has lost its space
		}
		if strings.HasPrefix(line, "@@") || full && isFileHeader(lines, i) {
			break
		}
		text := line[1:]
		switch line[0] {
		case ' ':
			h.old, h.new = append(h.old, text), append(h.new, text)
			h.oldOpen, h.newOpen = false, false
		case '-':
			h.old, h.oldOpen, changed = append(h.old, text), false, true
		case '+':
			h.new, h.newOpen, changed = append(h.new, text), false, true
		case '\\':
			switch before := lines[i-1]; {
			case strings.HasPrefix(before, "-"):
				h.oldOpen = true
			case strings.HasPrefix(before, "+"):
				h.newOpen = true
			default:
				h.oldOpen, h.newOpen = true, true
			}
		default:
			if !changed {
				return h, 0, fmt.Errorf("line %d of the diff does not begin with a space, + or -: %q", i+1, oneLine(line, 80))
			}
			return h, i, nil
		}
	}
	if !changed {
		return h, 0, fmt.Errorf("the hunk that ends in line %d of the diff changes nothing", i)
	}
	return h, i, nil
}

// count is a number of lines of a header: 1 if it has a place and no number, and
// none at all if it has neither.
func count(at, n string) int {
	switch {
	case n != "":
		c, _ := strconv.Atoi(n)
		return c
	case at != "":
		return 1
	}
	return 0
}

// apply makes the changes of all hunks, or none. Every line of a hunk must be
// in the file as it is, in the order of the hunks; where they are may differ
// from what the diff says, if that leaves one place.
func (d diff) apply(text string) (string, error) {
	crlf := isCRLF(text)
	if crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	body, closed := strings.CutSuffix(text, "\n")
	var lines []string
	if text != "" {
		lines = strings.Split(body, "\n")
	}
	closed = closed || text == ""
	var out []string
	done, shift := 0, 0 // lines taken over, and how far off the last hunk was
	for i, h := range d.hunks {
		at, err := h.place(lines, done, shift, closed)
		if err != nil {
			return "", fmt.Errorf("hunk %d of %d (nothing was changed): %w", i+1, len(d.hunks), err)
		}
		if h.at > 0 {
			shift = at - (h.at - 1)
		}
		out = append(append(out, lines[done:at]...), h.new...)
		done = at + len(h.old)
		if done == len(lines) && len(h.new)+len(h.old) > 0 {
			closed = h.closes(closed)
		}
	}
	out = append(out, lines[done:]...)
	changed := strings.Join(out, "\n")
	if closed && len(out) > 0 {
		changed += "\n"
	}
	if crlf {
		changed = strings.ReplaceAll(changed, "\n", "\r\n")
	}
	if len(changed) > maxFile {
		return "", fmt.Errorf("the file would be %w", errTooLarge)
	}
	return changed, nil
}

// closes says whether the file ends with a newline after a hunk at its end.
func (h hunk) closes(before bool) bool {
	switch {
	case h.newOpen:
		return false
	case h.oldOpen:
		return true
	}
	return before
}

// place finds where a hunk belongs, from line done on: where it says, or else
// the only place that it fits.
func (h hunk) place(lines []string, done, shift int, closed bool) (int, error) {
	work := 0
	fits := func(at int) bool {
		end := at + len(h.old)
		if at < done || end > len(lines) || h.oldOpen && (end < len(lines) || closed) {
			return false
		}
		n := 0
		for n < len(h.old) && lines[at+n] == h.old[n] {
			n++
		}
		work += n
		return n == len(h.old)
	}
	if len(h.old) == 0 { // nothing but new lines: they come after the line that it names
		if h.at > len(lines) || h.at < done || h.at == 0 && len(lines) > 0 {
			return 0, errors.New("it has no line of the file to find its place by")
		}
		return h.at, nil
	}
	if want := h.at - 1 + shift; h.at > 0 && fits(want) {
		return want, nil
	}
	found := -1
	for at := done; at+len(h.old) <= len(lines); at++ {
		if work > maxWork {
			return 0, errors.New("its lines are too much like the rest of the file to find its place; give the right number of its first line")
		}
		if fits(at) {
			if found >= 0 {
				return 0, fmt.Errorf("its lines occur more than once (lines %d and %d); give more lines around it", found+1, at+1)
			}
			found = at
		}
	}
	if found < 0 {
		return 0, h.absent(lines)
	}
	return found, nil
}

// maxWork bounds how many lines are compared for one hunk: a file that consists
// of the same line makes every place nearly fit.
const maxWork = 20_000_000

// absent says which line of a hunk is not where the others are.
func (h hunk) absent(lines []string) error {
	best, at := 0, -1
	for i := range min(len(lines), 20_000) {
		n := 0
		for n < min(len(h.old), 1000) && i+n < len(lines) && lines[i+n] == h.old[n] {
			n++
		}
		if n > best {
			best, at = n, i
		}
	}
	if at >= 0 && best < len(h.old) {
		is := "the end of the file"
		if at+best < len(lines) {
			is = strconv.Quote(oneLine(lines[at+best], 200))
		}
		return fmt.Errorf("it does not fit: after line %d the diff has %q, the file has %s", at+best, oneLine(h.old[best], 200), is)
	}
	if n, line := nearest(strings.Join(lines, "\n"), firstLine(strings.Join(h.old, "\n"))); n > 0 {
		return fmt.Errorf("it does not fit: none of the file's lines is %q; most like it is line %d: %q", firstLine(strings.Join(h.old, "\n")), n, line)
	}
	return errors.New("it does not fit; read the file again")
}
