package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"harness"
)

// maxFile is the largest file that is held in memory and can be changed by
// tools; sources are a thousandth of it.
const maxFile = 16 << 20

var errTooLarge = fmt.Errorf("larger than %d MiB", maxFile>>20)

// load reads a whole file.
func load(env *Env, rel string) ([]byte, error) {
	f, err := env.Workspace.Open(rel)
	if err != nil {
		return nil, plain(env, rel, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; glob lists what is in it", rel)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is %w", rel, errTooLarge)
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	if n, err := io.Copy(&b, io.LimitReader(f, maxFile+1)); err != nil {
		return nil, err
	} else if n > maxFile {
		return nil, fmt.Errorf("%s is %w", rel, errTooLarge)
	}
	return b.Bytes(), nil
}

// fresh loads a file that is about to be changed: the model must have read it,
// and it must be as it was then.
func fresh(env *Env, rel string) ([]byte, error) {
	text, err := load(env, rel)
	if err != nil {
		return nil, err
	}
	switch read, same := env.State.known(rel, text); {
	case !read:
		return nil, fmt.Errorf("%s was not read in this session; read it first", rel)
	case !same:
		return nil, fmt.Errorf("%s has changed since it was read; read it again", rel)
	}
	return text, nil
}

// save replaces a file with what the model made of it.
func save(env *Env, rel string, text []byte) error {
	if len(text) > maxFile {
		return fmt.Errorf("%s would be %w", rel, errTooLarge)
	}
	if err := env.Workspace.WriteFile(rel, text, 0o644); err != nil {
		switch {
		case errors.Is(err, fs.ErrInvalid):
			return fmt.Errorf("%s is not a file that can be written: %w", rel, err)
		default:
			return plain(env, rel, err)
		}
	}
	env.State.saw(rel, text)
	return nil
}

// known is a result's Data for a file that was read or written: how the model
// knows it.
type known struct {
	Path    string `json:"path"`
	Created bool   `json:"created,omitempty"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
}

func describe(rel string, text []byte, created bool) known {
	sum := sha256.Sum256(text)
	return known{rel, created, len(text), hex.EncodeToString(sum[:])}
}

// isBinary decides as git does: text has no zero byte near its beginning.
func isBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0
}

// mediaType is what a file seems to be.
func mediaType(text []byte) string { return http.DetectContentType(text[:min(len(text), 512)]) }

// changes is what a call would touch that changes one file.
func changes(rel, how string) Plan {
	return Plan{Access: harness.AccessEdit, Keys: []string{"file:" + rel}, Summary: how + " " + rel}
}

// reads is what a call would touch that reads a file or below a directory.
func reads(rel, how string) Plan {
	return Plan{Access: harness.AccessRead, Keys: []string{"file:" + rel}, Summary: how}
}

// countLines is how many lines a text has; the last one may lack its end.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
