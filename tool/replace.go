package tool

import (
	"errors"
	"fmt"
	"strings"
)

// Edit replaces one piece of text by another.
type Edit struct {
	Old string `json:"old_string" rule:"required max=1048576" doc:"The text to replace, exactly as it is in the file, without line numbers. It must occur once, unless replace_all is set: take enough lines around it."`
	New string `json:"new_string" rule:"required empty max=1048576" doc:"What comes in its place. Empty deletes it."`
	All bool   `json:"replace_all" doc:"Replace every occurrence."`
}

// replaceAll does the edits one after the other, each on what the former made,
// or none of them. It returns how many places were changed.
func replaceAll(text string, edits []Edit) (changed string, places int, err error) {
	for i, e := range edits {
		next, n, err := e.replace(text)
		if err != nil {
			if len(edits) > 1 {
				err = fmt.Errorf("edit %d of %d (nothing was changed): %w", i+1, len(edits), err)
			}
			return "", 0, err
		}
		text, places = next, places+n
	}
	return text, places, nil
}

// replace does one edit. Where a file's lines end with CR and LF, the edit's
// may end with LF.
func (e Edit) replace(text string) (changed string, places int, err error) {
	switch {
	case e.Old == "":
		return "", 0, errors.New("old_string is empty; to make a file or replace all of it use write")
	case e.Old == e.New:
		return "", 0, errors.New("old_string and new_string are the same")
	}
	if !strings.Contains(text, e.Old) && strings.Contains(e.Old, "\n") && isCRLF(text) {
		e.Old, e.New = toCRLF(e.Old), toCRLF(e.New)
	} else if !strings.Contains(e.Old, "\n") && strings.Contains(e.New, "\n") && isCRLF(text) {
		e.New = toCRLF(e.New)
	}
	first := strings.Index(text, e.Old)
	if first < 0 {
		return "", 0, e.absent(text)
	}
	if !e.All && strings.Contains(text[first+1:], e.Old) {
		return "", 0, fmt.Errorf("old_string occurs more than once (lines %s); take more lines around it, or set replace_all", e.lines(text))
	}
	if n := strings.Count(text, e.Old); e.All {
		if len(text)+n*(len(e.New)-len(e.Old)) > maxFile {
			return "", 0, fmt.Errorf("the file would be %w", errTooLarge)
		}
		return strings.ReplaceAll(text, e.Old, e.New), n, nil
	}
	return text[:first] + e.New + text[first+len(e.Old):], 1, nil
}

// isCRLF reports whether all lines of a text end with CR and LF.
func isCRLF(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && n == strings.Count(text, "\r\n")
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// lines names the first lines at which the old text occurs.
func (e Edit) lines(text string) string {
	var at []string
	line, from := 1, 0
	for len(at) < 8 {
		i := strings.Index(text[from:], e.Old)
		if i < 0 {
			return strings.Join(at, ", ")
		}
		line += strings.Count(text[from:from+i], "\n")
		at = append(at, fmt.Sprint(line))
		if text[from+i] == '\n' {
			line++
		}
		from += i + 1
	}
	return strings.Join(at, ", ") + ", …"
}

// absent says why the old text may not be there, with the line that is most
// like it.
func (e Edit) absent(text string) error {
	bare := unnumbered(e.Old)
	if bare != e.Old && strings.Contains(text, bare) {
		return errors.New("old_string was not found: it has the line numbers that read shows, which are not part of the file")
	}
	if squeezed := squeeze(e.Old); squeezed != "" && len(text) <= 1<<20 && strings.Contains(squeeze(text), squeezed) {
		n, line := nearest(text, firstLine(e.Old))
		return fmt.Errorf("old_string was not found: there is such text with other white space; line %d is %q", n, line)
	}
	if n, line := nearest(text, firstLine(e.Old)); n > 0 {
		return fmt.Errorf("old_string was not found; the line most like its first one is line %d: %q", n, line)
	}
	return errors.New("old_string was not found; read the file again")
}

// unnumbered cuts the numbers that read puts before lines.
func unnumbered(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if number, rest, ok := strings.Cut(l, "\t"); ok && strings.Trim(number, " 0123456789") == "" && number != "" {
			lines[i] = rest
		}
	}
	return strings.Join(lines, "\n")
}

// squeeze makes one space of all white space in a row.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstLine is the first line that has something on it.
func firstLine(s string) string {
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}

// nearest finds the line that is most like want, among as many lines as can be
// compared quickly; 0 if none is like it.
func nearest(text, want string) (number int, line string) {
	const mostLines, mostBytes = 20_000, 500
	if want = want[:min(len(want), mostBytes)]; want == "" {
		return 0, ""
	}
	best, n := 0.4, 0
	for l := range strings.SplitSeq(text, "\n") {
		if n++; n > mostLines {
			break
		}
		l = strings.TrimSuffix(l, "\r")
		if bare := strings.TrimSpace(l); len(bare) <= 4*mostBytes {
			if like := likeness(bare[:min(len(bare), mostBytes)], want); like > best {
				best, number, line = like, n, l[:min(len(l), mostBytes)]
			}
		}
	}
	return number, line
}
