package retrieval

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sort"
	"strings"

	"harness/retrieval/bm25"
)

// segment is an inverted index over the chunks of some files. It never changes.
type segment struct {
	files  []string // paths
	docs   []doc    // in the order of the files
	terms  string   // all of them, sorted, one after the other
	ends   []uint32 // where each ends in terms
	places []uint32 // where the postings of each end
	posts  []byte   // for each chunk that has the term: distance from the one before, count
}

// doc is a chunk.
type doc struct {
	file     uint32
	from, to uint32
	length   uint32 // in terms
	sum      uint64 // of its text
}

// term is the i-th.
func (s *segment) term(i int) string { return s.terms[before(s.ends, i):s.ends[i]] }

func before(ends []uint32, i int) uint32 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// find returns the postings of a term, nil if it has none.
func (s *segment) find(term string) []byte {
	i, ok := sort.Find(len(s.ends), func(i int) int { return strings.Compare(term, s.term(i)) })
	if !ok {
		return nil
	}
	return s.posts[before(s.places, i):s.places[i]]
}

// each calls f with every chunk of some postings and how often it has the term.
func each(posts []byte, f func(doc uint32, count int)) {
	at := uint32(0)
	for len(posts) > 0 {
		step, n := binary.Uvarint(posts)
		count, m := binary.Uvarint(posts[n:])
		at += uint32(step)
		f(at, int(count))
		posts = posts[n+m:]
	}
}

// builder makes a segment.
type builder struct {
	seed  maphash.Seed
	ids   map[string]uint32
	posts [][]byte
	last  []uint32 // the last chunk that has the term
	count []int    // in the chunk at hand
	used  []uint32 // terms of the chunk at hand
	out   *segment // on its own: it outlives the rest
}

func newBuilder(seed maphash.Seed) *builder {
	return &builder{seed: seed, ids: map[string]uint32{}, out: &segment{}}
}

// id returns a term's number.
func (b *builder) id(term []byte) uint32 {
	id, ok := b.ids[string(term)]
	if !ok {
		id = uint32(len(b.posts))
		b.ids[string(term)] = id
		b.posts, b.last, b.count = append(b.posts, nil), append(b.last, 0), append(b.count, 0)
	}
	return id
}

// add indexes a file.
func (b *builder) add(path string, text []byte) {
	file := uint32(len(b.out.files))
	b.out.files = append(b.out.files, path)
	var title []uint32
	bm25.Terms(path, func(t []byte) { title = append(title, b.id(t)) })
	all := string(text)
	for _, s := range split(text) {
		length := 0
		count := func(id uint32, weight int) {
			if b.count[id] == 0 {
				b.used = append(b.used, id)
			}
			b.count[id] += weight
			length += weight
		}
		for _, id := range title {
			count(id, bm25.TitleWeight)
		}
		bm25.Terms(all[s.start:s.end], func(t []byte) { count(b.id(t), 1) })
		b.chunk(doc{file, uint32(s.from), uint32(s.to), uint32(length), maphash.Bytes(b.seed, text[s.start:s.end])})
	}
}

// chunk ends the chunk at hand.
func (b *builder) chunk(d doc) {
	at := uint32(len(b.out.docs))
	b.out.docs = append(b.out.docs, d)
	for _, id := range b.used {
		p := binary.AppendUvarint(b.posts[id], uint64(at-b.last[id]))
		b.posts[id] = binary.AppendUvarint(p, uint64(b.count[id]))
		b.last[id], b.count[id] = at, 0
	}
	b.used = b.used[:0]
}

// finish puts everything in order.
func (b *builder) finish() {
	names := make([]string, 0, len(b.ids))
	size, letters := 0, 0
	for t, id := range b.ids {
		names = append(names, t)
		size += len(b.posts[id])
		letters += len(t)
	}
	slices.Sort(names)
	var w writer
	w.grow(len(names), letters, size)
	for _, t := range names {
		w.add(t, b.posts[b.ids[t]])
	}
	w.finish(b.out)
}

// writer writes the terms of a segment, in their order.
type writer struct {
	terms        strings.Builder
	ends, places []uint32
	posts        []byte
}

func (w *writer) grow(terms, letters, posts int) {
	w.terms.Grow(letters)
	w.ends, w.places = make([]uint32, 0, terms), make([]uint32, 0, terms)
	w.posts = make([]byte, 0, posts)
}

func (w *writer) add(term string, posts []byte) {
	if len(posts) == 0 {
		return
	}
	w.terms.WriteString(term)
	w.posts = append(w.posts, posts...)
	w.ends, w.places = append(w.ends, uint32(w.terms.Len())), append(w.places, uint32(len(w.posts)))
}

func (w *writer) finish(s *segment) {
	s.terms, s.ends, s.places, s.posts = w.terms.String(), w.ends, w.places, w.posts
	s.docs = slices.Clip(s.docs)
}
