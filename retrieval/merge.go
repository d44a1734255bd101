package retrieval

import (
	"encoding/binary"
	"slices"
)

// part is a segment as of a snapshot: some of its files may be gone.
type part struct {
	*segment
	dead []bool // by file; nil if none is
	live int    // chunks that are not dead
}

func (p *part) gone(d uint32) bool { return p.dead != nil && p.dead[p.docs[d].file] }

// merge makes one segment of several, without what is dead.
func merge(parts []part) *segment {
	out := &segment{}
	moved := make([][]uint32, len(parts)) // where each chunk went; only those that live
	for i, p := range parts {
		moved[i] = make([]uint32, len(p.docs))
		place := make([]uint32, len(p.files))
		for f, path := range p.files {
			if p.dead == nil || !p.dead[f] {
				place[f] = uint32(len(out.files))
				out.files = append(out.files, path)
			}
		}
		for d, doc := range p.docs {
			if p.gone(uint32(d)) {
				continue
			}
			moved[i][d] = uint32(len(out.docs))
			doc.file = place[doc.file]
			out.docs = append(out.docs, doc)
		}
	}
	var w writer
	var posts []byte
	next := make([]int, len(parts))
	for {
		term, any := "", false
		for i, p := range parts {
			if next[i] < len(p.ends) && (!any || p.term(next[i]) < term) {
				term, any = p.term(next[i]), true
			}
		}
		if !any {
			w.finish(out)
			// What grew by doubling is cut to its size: a segment stays for long.
			out.posts, out.ends, out.places = slices.Clip(slices.Clone(out.posts)), slices.Clone(out.ends), slices.Clone(out.places)
			return out
		}
		posts = posts[:0]
		last := uint32(0)
		for i, p := range parts {
			if next[i] == len(p.ends) || p.term(next[i]) != term {
				continue
			}
			each(p.posts[before(p.places, next[i]):p.places[next[i]]], func(d uint32, count int) {
				if p.gone(d) {
					return
				}
				at := moved[i][d]
				posts = binary.AppendUvarint(posts, uint64(at-last))
				posts = binary.AppendUvarint(posts, uint64(count))
				last = at
			})
			next[i]++
		}
		w.add(term, posts)
	}
}
