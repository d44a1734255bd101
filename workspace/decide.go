package workspace

// verdict is what becomes of a change.
type verdict uint8

const (
	doRestore verdict = iota
	doDelete
	doConflict
	doSkip
)

// decider sorts changes, which come parents first, into a plan.
type decider struct {
	touched  map[string]string
	force    bool
	changes  []Change
	verdicts []verdict
	occupied map[string]bool // directories in which something stays
	blocked  map[string]bool // paths that do not become directories
}

func (d *decider) decide(c Change) {
	v := d.judge(&c)
	if parent, _ := split(c.path); d.blocked[parent] && c.want != nil && v == doRestore {
		v, c.Why = doConflict, ParentStays
	}
	if v >= doConflict {
		if c.want != nil && c.want.Kind == Dir && (c.now == nil || c.now.Kind != Dir) {
			d.blocked[c.path] = true
		}
		if c.now != nil {
			for dir, _ := split(c.path); dir != "" && !d.occupied[dir]; dir, _ = split(dir) {
				d.occupied[dir] = true
			}
		}
	}
	if isDir(c.now) && (c.want == nil || isDir(c.want)) || c.now == nil && isDir(c.want) {
		c.Path += "/"
	}
	d.changes, d.verdicts = append(d.changes, c), append(d.verdicts, v)
}

func isDir(e *Entry) bool { return e != nil && e.Kind == Dir }

// judge looks at one change by itself.
func (d *decider) judge(c *Change) verdict {
	if c.want != nil && c.want.Kind == Skipped { // what was there is not known
		c.Why = c.want.Reason.String()
		return doSkip
	}
	if c.now != nil && c.now.Kind == Skipped {
		c.Why = c.now.Reason.String()
		if c.want == nil || c.now.Reason != Large && c.now.Reason != Special {
			return doSkip
		}
		if !d.force { // it could not be undone
			c.Why = NotKept
			return doConflict
		}
		c.Why = ""
	}
	if why, ok := d.touched[c.path]; ok {
		c.Why = why
		return doConflict
	}
	if c.want == nil {
		return doDelete
	}
	return doRestore
}

// plan looks at directories last: one in which something stays cannot go.
func (d *decider) plan() (p Plan) {
	for i := range d.changes {
		c, v := &d.changes[i], &d.verdicts[i]
		if !isDir(c.now) || isDir(c.want) || *v >= doConflict || !d.occupied[c.path] {
			continue
		}
		if c.want == nil {
			*v, c.Why = doSkip, NotEmpty
		} else {
			*v, c.Why = doConflict, NotEmpty
		}
	}
	for i, c := range d.changes {
		switch d.verdicts[i] {
		case doRestore:
			p.Restore = append(p.Restore, c)
		case doDelete:
			p.Delete = append(p.Delete, c)
		case doConflict:
			p.Conflict = append(p.Conflict, c)
		case doSkip:
			p.Skipped = append(p.Skipped, c)
		}
	}
	return p
}
