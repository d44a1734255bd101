package health

import (
	"slices"

	"harness"
)

// plan is what the turn has told of its steps. Some engines tell of a step when
// it changes, others of the whole plan: an announcement is a run of steps with
// rising indexes. One that says nothing new repeats the last, and a step that
// becomes what it was before repeats that.
type plan struct {
	Repeats int64  `json:"repeats,omitempty"` // of the session
	Churn   int    `json:"churn,omitempty"`   // since a step was done
	Seen    []key  `json:"seen,omitempty"`    // steps, with what was said of them
	Steps   []step `json:"steps,omitempty"`   // with what was said of them last
	Telling bool   `json:"telling,omitempty"` // an announcement is under way
	News    bool   `json:"news,omitempty"`    // and says something new
	Index   int    `json:"index,omitempty"`   // of its last step
}

type step struct {
	ID  key `json:"id"`
	Now key `json:"now"`
}

// What a plan is judged by. More steps than that are one task too many.
const (
	maxSteps  = 32
	maxSeen   = 64
	someChurn = 3
	mostChurn = 6
)

func (f *Fold) seeStep(p *harness.StepProgress) flags {
	var touched flags
	if f.Plan.Telling && p.Index <= f.Plan.Index {
		touched = f.announced()
	}
	l := &f.Plan
	l.Telling, l.Index = true, p.Index
	id, now := keyOf(p.StepID, nil), keyOf(p.StepID+"\x00"+p.Title+"\x00"+p.Status, nil)
	i := slices.IndexFunc(l.Steps, func(s step) bool { return s.ID == id })
	switch {
	case i >= 0 && l.Steps[i].Now == now:
		return touched
	case slices.Contains(l.Seen, now):
		touched |= f.repeated()
	default:
		f.progress()
		l.Seen = remember(l.Seen, now, maxSeen)
		if p.Status == "completed" || p.Status == "done" {
			l.Churn = 0
		}
	}
	l.News = true
	if i >= 0 {
		l.Steps[i].Now = now
	} else {
		l.Steps = remember(l.Steps, step{id, now}, maxSteps)
	}
	return touched
}

// announced ends an announcement.
func (f *Fold) announced() flags {
	l := &f.Plan
	repeats := l.Telling && !l.News
	l.Telling, l.News = false, false
	if repeats {
		return f.repeated()
	}
	return 0
}

func (f *Fold) repeated() flags {
	f.Plan.Repeats++
	f.Plan.Churn++
	f.Evidence.claim()
	return set(planChurn) | set(noEvidence)
}
