package program_test

import (
	"strings"
	"testing"

	"harness/engine/internal/program"
)

func TestLinesAreCutWhereTheyEnd(t *testing.T) {
	t.Parallel()
	var got []string
	l := &program.Lines{Max: 8, Take: func(b []byte, err error) {
		if err != nil {
			b = []byte(err.Error())
		}
		got = append(got, string(b))
	}}
	for _, s := range []string{"a\nb", "c\n\n \n12345678\n", "123456789", "\nlost\n"} {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	l.End()
	if want := "a|bc|12345678|a line of more than 8 bytes"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
