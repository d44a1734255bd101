package retrieval

import (
	"maps"
	"slices"
	"time"
)

// snapshot is a state of the index. It never changes.
type snapshot struct {
	parts  []part
	files  map[string]entry
	chunks int
	length int64 // of all chunks, in terms
	report Report
}

// entry is what is known of a file.
type entry struct {
	size  int64
	time  time.Time
	sum   uint64
	young bool     // it was read so soon after its change that it may have changed since
	in    *segment // nil if it has no text
	file  int      // its place there
}

// settle makes the parts of the files that the snapshot has, few enough of them,
// and counts.
func (s *snapshot) settle(old *snapshot) {
	for path := range old.files {
		if _, ok := s.files[path]; !ok {
			s.report.Removed++
		}
	}
	s.collect()
	small := func(a, b part) int { return a.live - b.live }
	slices.SortStableFunc(s.parts, small)
	// The smallest together, if there are many; and what is mostly dead.
	few := 0
	if len(s.parts) > maxParts {
		few = len(s.parts) - fewParts + 1
	}
	for i, p := range s.parts {
		if i >= few && p.live*2 < len(p.docs) {
			s.parts[few], s.parts[i] = s.parts[i], s.parts[few]
			few++
		}
	}
	if few > 0 {
		one := merge(s.parts[:few])
		for i, path := range one.files {
			e := s.files[path]
			e.in, e.file = one, i
			s.files[path] = e
		}
		s.collect()
	}
	for _, p := range s.parts {
		s.chunks += p.live
		for d, doc := range p.docs {
			if !p.gone(uint32(d)) {
				s.length += int64(doc.length)
			}
		}
	}
	for _, e := range s.files {
		if e.in != nil {
			s.report.Files++
			s.report.Bytes += e.size
		} else {
			s.report.Skipped.Binary++
		}
	}
	s.report.Chunks = s.chunks
}

// collect finds the segments in use and what is dead in them.
func (s *snapshot) collect() {
	live := map[*segment][]bool{}
	for _, e := range s.files {
		if e.in == nil {
			continue
		}
		if live[e.in] == nil {
			live[e.in] = make([]bool, len(e.in.files))
		}
		live[e.in][e.file] = true
	}
	s.parts = s.parts[:0]
	for _, seg := range slices.SortedFunc(maps.Keys(live), func(a, b *segment) int { return len(b.docs) - len(a.docs) }) {
		p := part{segment: seg, live: len(seg.docs)}
		if slices.Contains(live[seg], false) {
			p.dead = make([]bool, len(seg.files))
			for i, ok := range live[seg] {
				p.dead[i] = !ok
			}
			for _, d := range seg.docs {
				if p.dead[d.file] {
					p.live--
				}
			}
		}
		s.parts = append(s.parts, p)
	}
}
