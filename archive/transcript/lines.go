package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"harness"
	"harness/internal/strict"
)

// MaxLine bounds a line of a transcript: the longest hold images.
const MaxLine = 32 << 20

// outer is how deep a line must have one meaning: its own fields, and those of
// its message.
const outer = 2

// Lines reads JSON lines. What is no JSON object is ErrCorrupt, with its place;
// but a last line that was cut, because the program was ended while it wrote, is
// lost. take must not keep the line.
func (l *Log) Lines(r io.Reader, take func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, whole, err := next(in)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			if !whole {
				return nil
			}
			continue
		}
		err = strict.Outer(line, MaxLine, outer)
		if err == nil && bytes.TrimSpace(line)[0] != '{' {
			err = errors.New("no object")
		}
		switch {
		case err != nil && !whole && n > 1:
			l.Lose("torn line")
			return nil
		case err != nil:
			return fmt.Errorf("line %d is no line of a transcript: %w: %w", n, err, harness.ErrCorrupt)
		}
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// next is the next line; whole says that it has its end.
func next(in *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, false, fmt.Errorf("it has more than %d bytes: %w", MaxLine, harness.ErrInvalid)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
