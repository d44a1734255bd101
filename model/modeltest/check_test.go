package modeltest_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"harness/model"
	"harness/model/modeltest"
)

// recorder is a test that notes what it was failed for.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Error(a ...any)            { r.failed = append(r.failed, fmt.Sprint(a...)) }
func (r *recorder) Errorf(f string, a ...any) { r.failed = append(r.failed, fmt.Sprintf(f, a...)) }

// TestTheSuiteFindsWhatIsWrong gives Check streams that break one promise each.
func TestTheSuiteFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	begin := model.Chunk{Kind: model.ChunkBegin, Provider: "p"}
	text := model.Chunk{Kind: model.ChunkText, Text: "a"}
	call := model.Chunk{Kind: model.ChunkCallBegin, ID: "c", Name: "n"}
	args := model.Chunk{Kind: model.ChunkCallArgs, Text: "{}"}
	end := model.Chunk{Kind: model.ChunkCallEnd, Text: "{}"}
	stop := model.Chunk{Kind: model.ChunkStop, Stop: model.StopEnd}
	fault := errors.New("fault")
	for _, c := range []struct {
		name   string
		chunks []model.Chunk
		err    error
		want   string // empty if nothing is wrong
	}{
		{"Good", []model.Chunk{begin, call, args, end, stop}, nil, ""},
		{"GoodFault", []model.Chunk{begin, call, args}, fault, ""},
		{"NoBegin", []model.Chunk{text, stop}, nil, "not a beginning"},
		{"NoProvider", []model.Chunk{{Kind: model.ChunkBegin}, stop}, nil, "without a provider"},
		{"TwoBegins", []model.Chunk{begin, begin, stop}, nil, "second beginning"},
		{"NoStop", []model.Chunk{begin, text}, nil, "without a stop"},
		{"AfterStop", []model.Chunk{begin, stop, text}, nil, "goes on"},
		{"ErrorAfterStop", []model.Chunk{begin, stop}, fault, "goes on"},
		{"OpenCall", []model.Chunk{begin, call, args, stop}, nil, "the end with open calls"},
		{"NamelessCall", []model.Chunk{begin, {Kind: model.ChunkCallBegin}, end, stop}, nil, "without id or name"},
		{"CallTwice", []model.Chunk{begin, call, call, args, end, stop}, nil, "begins twice"},
		{"OtherArgs", []model.Chunk{begin, call, end, stop}, nil, "not their pieces"},
		{"ArgsOfNoCall", []model.Chunk{begin, args, stop}, nil, "arguments of no call"},
		{"EndOfNoCall", []model.Chunk{begin, end, stop}, nil, "end of no call"},
		{"BlockOutOfOrder", []model.Chunk{begin, {Kind: model.ChunkText, Block: 1}, stop}, nil, "out of order"},
		{"ChangedKind", []model.Chunk{begin, text, {Kind: model.ChunkThinking}, stop}, nil, "changes its kind"},
		{"NoKind", []model.Chunk{begin, {}, stop}, nil, "of no kind"},
	} {
		r := &recorder{TB: t}
		_, err := modeltest.Check(r, stream(c.chunks, c.err))
		got := strings.Join(r.failed, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: complained %q, want %q", c.name, got, c.want)
		}
		if c.want == "" && !errors.Is(err, c.err) {
			t.Errorf("%s: ended with %v", c.name, err)
		}
	}
}

func stream(chunks []model.Chunk, err error) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Chunk{}, err)
		}
	}
}
