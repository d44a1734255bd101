package tool

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
)

// maxMatchedLine is how much of a line is shown around a match.
const maxMatchedLine = 500

// lineMatcher finds the lines that a pattern matches.
type lineMatcher struct {
	line *regexp.Regexp // matches one line without its end
	must []byte         // what every line has that it matches, or nothing
	text *regexp.Regexp // finds in many lines every one that line matches, or nil
	ends bool           // text looks at the ends of lines, which CR would hide
}

// compile reads a search's pattern.
func compile(in *grepInput) (*lineMatcher, error) {
	p := in.Pattern
	if in.Literal {
		p = regexp.QuoteMeta(p)
	}
	if strings.Contains(p, "\n") {
		return nil, fmt.Errorf("the pattern has a line break; it is matched with each line by itself")
	}
	flags := ""
	if in.NoCase {
		flags = "(?i)"
	}
	line, err := regexp.Compile(flags + p)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression of RE2: %w", err)
	}
	m := &lineMatcher{line: line}
	if tree, err := syntax.Parse(flags+p, syntax.Perl); err == nil {
		m.must = []byte(required(tree.Simplify()))
	}
	// ^ and $ find the ends of lines in a longer text; \A and \z would not.
	whole := flags + "(?m:" + p + ")"
	tree, err := syntax.Parse(whole, syntax.Perl)
	if err != nil || has(tree, syntax.OpBeginText) || has(tree, syntax.OpEndText) {
		return m, nil
	}
	m.ends = has(tree, syntax.OpEndLine)
	m.text, _ = regexp.Compile(whole)
	return m, nil
}

// required is the longest text that is in everything an expression matches, as
// far as it can be told easily.
func required(tree *syntax.Regexp) (longest string) {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 {
			return string(tree.Rune)
		}
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return required(tree.Sub[0])
		}
	}
	return longest
}

func has(tree *syntax.Regexp, op syntax.Op) bool {
	if tree.Op == op {
		return true
	}
	for _, sub := range tree.Sub {
		if has(sub, op) {
			return true
		}
	}
	return false
}

// next finds the first line from there on that matches, and the match in it.
// It returns where the line begins and ends, or -1.
func (m *lineMatcher) next(text []byte, from int, slow *bool) (begin, end int, at []int) {
	for from < len(text) {
		if len(m.must) > 0 {
			hit := bytes.Index(text[from:], m.must)
			if hit < 0 {
				return -1, -1, nil
			}
			from = max(from, bytes.LastIndexByte(text[:from+hit], '\n')+1)
		} else if m.text != nil && !*slow {
			hit := m.text.FindIndex(text[from:])
			if hit == nil {
				return -1, -1, nil
			}
			// Where a match goes on to other lines, it may go on for ever.
			*slow = bytes.IndexByte(text[from+hit[0]:from+hit[1]], '\n') >= 0
			from = bytes.LastIndexByte(text[:from+hit[0]], '\n') + 1
		}
		end := len(text)
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			end = from + n
		}
		if at := m.line.FindIndex(bytes.TrimSuffix(text[from:end], []byte("\r"))); at != nil {
			return from, end, at
		}
		from = end + 1
	}
	return -1, -1, nil
}

// reader is one worker's memory.
type reader struct{ text []byte }

// read fills the memory with a file, or says why it is not searched. Of a
// binary file it reads the beginning.
func (r *reader) read(f io.Reader) (skipped string, err error) {
	if r.text == nil {
		r.text = make([]byte, 0, 64<<10)
	}
	r.text = r.text[:0]
	for {
		n, err := f.Read(r.text[len(r.text):cap(r.text)])
		before := len(r.text)
		r.text = r.text[:before+n]
		switch {
		case err == io.EOF:
			return "", nil
		case err != nil:
			return "", err
		case before == 0 && isBinary(r.text):
			return "", nil
		case len(r.text) > maxFile:
			return errTooLarge.Error(), nil
		case len(r.text) == cap(r.text):
			r.text = append(r.text, make([]byte, len(r.text))...)[:len(r.text)]
		}
	}
}

// file searches one file.
func (s *search) file(name string, r *reader) finding {
	found := finding{name: name}
	f, err := s.fsys.Open(name)
	if err != nil {
		return found // gone meanwhile, or not ours to read
	}
	defer f.Close()
	if found.skipped, err = r.read(f); err != nil || found.skipped != "" || isBinary(r.text) {
		return found
	}
	slow := s.lines.ends && bytes.IndexByte(r.text, '\r') >= 0
	p := printer{search: s, name: name, text: r.text, number: 1}
	for from := 0; ; {
		begin, end, at := s.lines.next(r.text, from, &slow)
		if begin < 0 {
			break
		}
		found.count++
		switch s.in.Mode {
		case "files":
			return found
		case "count":
		default:
			p.match(begin, end, at)
			found.cuts = append(found.cuts, p.out.Len())
			if found.count > s.in.Limit || p.out.Len() > maxPrinted {
				found.text = p.out.String()
				return found
			}
		}
		from = end + 1
	}
	p.rest()
	found.text = p.out.String()
	return found
}
