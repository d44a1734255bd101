package health

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"harness"
)

var _ harness.Aside = (*Fold)(nil)

// AppendJSON appends the form that [Decode] reads.
func (f *Fold) AppendJSON(dst []byte) []byte {
	b, err := json.Marshal(&f.memory)
	if err != nil {
		panic(fmt.Sprintf("health: encode %+v: %v", f.memory, err))
	}
	return append(dst, b...)
}

// Decode reads what [Fold.AppendJSON] wrote. A fold of another version is not
// one: [harness.ErrUnsupported].
func Decode(b []byte) (*Fold, error) {
	f := new(Fold)
	if err := json.Unmarshal(b, &f.memory); err != nil {
		return nil, fmt.Errorf("decode health: %w: %w", err, harness.ErrCorrupt)
	}
	if f.Version != Version {
		return nil, fmt.Errorf("health of version %d: %w", f.Version, harness.ErrUnsupported)
	}
	for _, m := range f.Flags {
		if m.Level > critical {
			return nil, fmt.Errorf("decode health: there is no level %d: %w", m.Level, harness.ErrCorrupt)
		}
	}
	return f, nil
}

// Clone is a copy that shares only what never changes.
func (f *Fold) Clone() *Fold {
	c := *f
	c.Pending, c.Open, c.Audit = slices.Clone(f.Pending), slices.Clone(f.Open), slices.Clone(f.Audit)
	c.Days = slices.Clone(f.Days)
	c.Loop.Last, c.Loop.Done = slices.Clone(f.Loop.Last), slices.Clone(f.Loop.Done)
	c.Plan.Seen, c.Plan.Steps = slices.Clone(f.Plan.Seen), slices.Clone(f.Plan.Steps)
	c.Tree.Each, c.Memory.Sources = slices.Clone(f.Tree.Each), slices.Clone(f.Memory.Sources)
	c.Raised = maps.Clone(f.Raised)
	for i := range c.Flags {
		c.Flags[i].By = slices.Clone(f.Flags[i].By)
	}
	return &c
}

// Kept reports whether a fold of this version at st's place is kept with st. It
// does not decode it.
func Kept(st *harness.State) bool {
	a, stored := st.Aside()
	if f, ok := a.(*Fold); ok {
		return f.Seq == st.Seq
	}
	return bytes.HasPrefix(stored, head(st.Seq))
}

// head is how a stored fold begins.
func head(seq harness.Seq) []byte {
	b := strconv.AppendInt([]byte(`{"v":`), Version, 10)
	return append(strconv.AppendUint(append(b, `,"seq":`...), uint64(seq), 10), ',')
}

// Of is the fold that is kept with st, the caller's to change; false if there is
// none of this version, or none at st's place.
func Of(st *harness.State) (*Fold, bool) {
	if !Kept(st) {
		return nil, false
	}
	a, stored := st.Aside()
	if f, ok := a.(*Fold); ok {
		return f.Clone(), true
	}
	f, err := Decode(stored)
	return f, err == nil
}
