package egress

import (
	"bytes"
	"strconv"
)

// Usage is what an answer used. The four kinds are disjoint.
type Usage struct {
	Model      string // as the provider says, or else as it was asked for
	Input      int64  // read afresh
	Output     int64
	CacheRead  int64
	CacheWrite int64
	// Estimated says that the provider did not tell, because the answer broke
	// off or its form has no usage: a token for each four bytes, at least what
	// was told.
	Estimated bool
}

// Total is everything that was read or written.
func (u Usage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// maxTold bounds a count that a provider tells: no answer has so many tokens,
// and a sum of them cannot overflow.
const maxTold = 1 << 40

// told is what the answer itself says about its usage, in any dialect.
type told struct {
	model                 string
	input, output         int64
	cacheRead, cacheWrite int64
	cached                int64 // part of input
	results, total        int64 // what Google has beside the rest, and of everything so far
	final                 bool  // the output is the whole
}

// take hears one value of the answer.
func (t *told) take(path, value []byte) {
	name, begun := bytes.CutPrefix(path, []byte(".message"))
	name = bytes.TrimPrefix(name, []byte(".response"))
	name = bytes.TrimPrefix(name, []byte(".[]")) // Google's stream that is no stream of events
	var to *int64
	switch string(name) {
	case ".model", ".modelVersion":
		if len(value) > 0 {
			t.model = string(value)
		}
		return
	case ".usage.input_tokens", ".usage.prompt_tokens", ".usageMetadata.promptTokenCount":
		to = &t.input
	case ".usage.output_tokens", ".usage.completion_tokens":
		to = &t.output
	case ".usageMetadata.toolUsePromptTokenCount":
		to = &t.results
	case ".usageMetadata.totalTokenCount": // with answers and thoughts
		to = &t.total
	case ".usage.cache_read_input_tokens":
		to = &t.cacheRead
	case ".usage.cache_creation_input_tokens":
		to = &t.cacheWrite
	case ".usage.input_tokens_details.cached_tokens", ".usage.prompt_tokens_details.cached_tokens", ".usageMetadata.cachedContentTokenCount":
		to = &t.cached
	default:
		return
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 || n > maxTold {
		return
	}
	*to = max(*to, n) // counts are cumulative
	// What a message begins with is known before its output is.
	t.final = t.final || to == &t.output && !begun
}

// usage is what was told, in disjoint kinds.
func (t *told) usage() Usage {
	output := max(t.output, t.total-t.input-t.results)
	return Usage{Model: t.model, Input: max(0, t.input-t.cached) + t.results, Output: output, CacheRead: t.cacheRead + t.cached, CacheWrite: t.cacheWrite}
}
