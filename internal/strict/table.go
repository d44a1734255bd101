package strict

// slots are twice as many as there can be keys, so that there is always an
// empty one near.
const slots = 2 * maxOpen

// table finds the keys of open objects by their hashes: open addressing, with
// one entry for a key. Objects end in the opposite order of their beginning,
// and while one is open nothing is added to those around it; so taking out what
// came last leaves the table as it was before.
type table struct {
	keys [slots]uint16   // index of the key and one; 0: empty
	at   [maxOpen]uint16 // where a key is
}

// slot is where to look first for a key of the object whose keys begin at
// first.
func slot(first int, h uint32) int {
	return int((h ^ uint32(first)*0x9e3779b1) % slots)
}

func (t *table) put(at, i int) {
	t.keys[at], t.at[i] = uint16(i+1), uint16(at)
}

// remove takes out the keys from first up to but without end, which came last.
func (t *table) remove(first, end int) {
	for i := end - 1; i >= first; i-- {
		t.keys[t.at[i]] = 0
	}
}
