package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxReadLines = 2000 // of one call
	maxLine      = 2000 // bytes shown of one line
	maxImage     = 5 << 20
	// defaultReadBytes is less than what engines show whole, so that what the
	// model gets is one piece, and it knows where the next one begins.
	defaultReadBytes = 11_000
)

type readInput struct {
	Path   string `json:"path" rule:"required max=4096" doc:"The file, relative to the workspace or absolute inside it."`
	Offset int    `json:"offset" rule:"min=1" doc:"The line to begin with. Default 1."`
	Limit  int    `json:"limit" rule:"min=1 max=2000" doc:"How many lines at most. Default 2000."`
}

// NewRead returns what reads files, showing at most this many bytes at a time;
// 0 is what an engine shows whole.
func NewRead(most int) Tool {
	if most <= 0 {
		most = defaultReadBytes
	}
	return define("read", fmt.Sprintf(`Reads a file. Each line comes with its number and a tab before it, which are not part of the file; lines longer than %d bytes are cut. Up to %d bytes are shown at a time; what is left is read with offset. Pictures are shown as such; other binary files are refused.`, maxLine, most),
		func(env *Env, in *readInput) (Plan, error) {
			rel, err := find(env, in.Path)
			if err != nil {
				return Plan{}, err
			}
			return reads(rel, "read "+rel), nil
		},
		func(ctx context.Context, env *Env, in *readInput) (Result, error) { return runRead(ctx, env, in, most) })
}

func runRead(ctx context.Context, env *Env, in *readInput, most int) (Result, error) {
	rel, err := find(env, in.Path)
	if err != nil {
		return Result{}, err
	}
	if in.Limit == 0 {
		in.Limit = maxReadLines
	}
	in.Offset = max(in.Offset, 1)
	text, err := load(env, rel)
	if errors.Is(err, errTooLarge) {
		return readLarge(ctx, env, rel, in, most)
	}
	if err != nil {
		return Result{}, err
	}
	if isBinary(text) || isPicture(mediaType(text)) {
		return readBinary(rel, text)
	}
	env.State.saw(rel, text)
	about := data(describe(rel, text, false))
	if len(text) == 0 {
		return Result{Text: "[" + rel + " is empty]", Data: about}, nil
	}
	lines := countLines(text)
	if in.Offset > lines {
		return Result{}, fmt.Errorf("%s has only %d lines", rel, lines)
	}
	w := window{in: in, most: most}
	if err := w.fill(ctx, bytes.NewReader(text)); err != nil {
		return Result{}, err
	}
	if w.more {
		fmt.Fprintf(&w.out, "[lines %d to %d of %d; go on with offset %d]\n", in.Offset, w.next-1, lines, w.next)
	}
	if text[len(text)-1] != '\n' && !w.more {
		w.out.WriteString("[no newline at the end of the file]\n")
	}
	return Result{Text: strings.ToValidUTF8(w.out.String(), "\uFFFD"), Data: about}, nil
}

// readLarge shows a part of a file that is not held in memory. It cannot be
// changed by tools, so it is not remembered as read.
func readLarge(ctx context.Context, env *Env, rel string, in *readInput, most int) (Result, error) {
	f, err := env.Workspace.Open(rel)
	if err != nil {
		return Result{}, plain(env, rel, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	if begin, _ := r.Peek(8000); isBinary(begin) {
		return Result{}, fmt.Errorf("%s is a binary file (%s), %w", rel, mediaType(begin), errTooLarge)
	}
	w := window{in: in, most: most}
	if err := w.fill(ctx, r); err != nil {
		return Result{}, err
	}
	if w.out.Len() == 0 {
		return Result{}, fmt.Errorf("%s has only %d lines", rel, w.next-1)
	}
	note := "it cannot be changed with edit"
	if w.more {
		note = fmt.Sprintf("go on with offset %d; %s", w.next, note)
	}
	fmt.Fprintf(&w.out, "[%s is %v: %s]\n", rel, errTooLarge, note)
	return Result{Text: strings.ToValidUTF8(w.out.String(), "\uFFFD")}, nil
}

func readBinary(rel string, text []byte) (Result, error) {
	media := mediaType(text)
	switch {
	case !isPicture(media):
		return Result{}, fmt.Errorf("%s is a binary file (%s, %d bytes); look at it with programs, through bash", rel, media, len(text))
	case len(text) > maxImage:
		return Result{}, fmt.Errorf("%s is a picture of %d bytes; at most %d can be shown", rel, len(text), maxImage)
	}
	return Result{Text: fmt.Sprintf("[%s: %s, %d bytes]", rel, media, len(text)), Images: []Image{{Media: media, Data: text}}}, nil
}

// isPicture lists what models can see.
func isPicture(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// window collects the lines that were asked for.
type window struct {
	in   *readInput
	most int
	out  strings.Builder
	line []byte
	next int  // the line after the last one shown
	more bool // there is such a line
}

// fill reads lines up to the end of the window. It holds one buffer of the
// reader, however long lines are.
func (w *window) fill(ctx context.Context, from io.Reader) error {
	r := bufio.NewReaderSize(from, 64<<10)
	for w.next = 1; ; w.next++ {
		line, length, err := nextLine(ctx, r, w.line[:0])
		w.line = line
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if w.next < w.in.Offset {
			continue
		}
		shown := w.out.Len() + len(line) + 8
		if w.next >= w.in.Offset+w.in.Limit || w.out.Len() > 0 && shown > w.most {
			w.more = true
			return nil
		}
		fmt.Fprintf(&w.out, "%6d\t%s", w.next, line)
		if length > len(line) {
			fmt.Fprintf(&w.out, " [%d more bytes]", length-len(line))
		}
		w.out.WriteByte('\n')
	}
}

// nextLine reads one line and returns its beginning, in the memory of begin,
// and its length, both without its end. The error is io.EOF only if there was
// no line.
func nextLine(ctx context.Context, r *bufio.Reader, begin []byte) (_ []byte, length int, err error) {
	var last byte
	for {
		part, err := r.ReadSlice('\n')
		if len(part) == 0 && length == 0 && err != nil {
			return begin, 0, err
		}
		ended := len(part) > 0 && part[len(part)-1] == '\n'
		part = bytes.TrimSuffix(part, []byte("\n"))
		if len(part) > 0 {
			last = part[len(part)-1]
		}
		length += len(part)
		begin = append(begin, part[:min(len(part), maxLine-len(begin))]...)
		switch {
		case ended && last == '\r': // as most tools show it
			length--
			begin = begin[:min(len(begin), length)]
			fallthrough
		case ended || err == io.EOF:
			if length > len(begin) {
				begin = begin[:wholeRunes(begin)]
			}
			return begin, length, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return begin, 0, err
		}
		if err := context.Cause(ctx); err != nil {
			return begin, 0, err
		}
	}
}
