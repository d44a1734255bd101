package bridgetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
)

// Tap is a program in front of another, in the role that HARNESS_TEST_THEN names.
// It passes on what that prints, and notes in dir when it does: from then on
// somebody can read it.
func Tap(dir string, in *os.File, out, errs io.Writer, args, env []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stderr, cmd.Env = in, errs, behind(env)
	said, err := cmd.StdoutPipe()
	if err != nil {
		return 70
	}
	notes, err := os.OpenFile(filepath.Join(dir, "tap"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 70
	}
	enc := json.NewEncoder(notes)
	_ = enc.Encode(tapped{At: time.Now().UnixNano()})
	if err := cmd.Start(); err != nil {
		return 70
	}
	for b := make([]byte, 64<<10); ; {
		n, err := said.Read(b)
		if n > 0 {
			at := time.Now().UnixNano()
			if _, err := out.Write(b[:n]); err != nil {
				break
			}
			_ = enc.Encode(tapped{at, b[:n]})
		}
		if err != nil {
			break
		}
	}
	_ = said.Close()
	if err := cmd.Wait(); err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			return failed.ExitCode()
		}
		return 70
	}
	return 0
}

// tapped is what a program has printed at a time; nothing, when it was started.
type tapped struct {
	At   int64
	Said []byte
}

// variable is that of an environment.
func variable(env []string, name string) (value string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// behind is the environment of the program behind one of ours.
func behind(env []string) []string {
	rest := slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, "HARNESS_TEST_ROLE=") })
	return append(rest, "HARNESS_TEST_ROLE="+variable(env, "HARNESS_TEST_THEN"))
}

// piece is what a clock says.
var piece = regexp.MustCompile(`\b\d{19}\b`)

// Passed is when the program was started first, and when the pieces of its text
// could first be read, whole.
func Passed(tb testing.TB, dir string) (began time.Time, at map[string]time.Time) {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "tap"))
	if err != nil {
		tb.Fatal(err)
	}
	var all []byte
	var ends []int
	var times []int64
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		var t tapped
		if err := dec.Decode(&t); err == io.EOF {
			break
		} else if err != nil {
			tb.Fatal(fmt.Errorf("what was passed on: %w", err))
		}
		all = append(all, t.Said...)
		ends, times = append(ends, len(all)), append(times, t.At)
	}
	at = make(map[string]time.Time)
	for _, m := range piece.FindAllIndex(all, -1) {
		if text := string(all[m[0]:m[1]]); at[text].IsZero() {
			at[text] = time.Unix(0, times[sort.SearchInts(ends, m[1])])
		}
	}
	return time.Unix(0, times[0]), at
}
