package health

import (
	"fmt"
	"slices"
	"time"

	"harness"
)

// Severity is how bad something is.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warn     Severity = "warn"
	Critical Severity = "critical"
)

// level is a severity, or none, in order.
type level uint8

const (
	none level = iota
	info
	warn
	critical
)

var severities = [...]Severity{info: Info, warn: Warn, critical: Critical}

// The flags, in the order of the table.
const (
	stuck = iota
	waitingApproval
	stalled
	degradedProvider
	budgetTokens
	budgetCost
	budgetTime
	contextPressure
	toolFailures
	slowTools
	looping
	planChurn
	noEvidence
	recovering
	expiring
	orphanedProcess
	lowFidelity
	flagCount
)

// flags is a set of them.
type flags uint32

func set(flag int) flags { return 1 << flag }

// When silence and time count.
const (
	stalledAfter = 5 * time.Minute
	stuckAfter   = 15 * time.Minute
	expiresSoon  = 10 * time.Minute
	nearLimit    = 0.8
	fullContext  = 95.0
	muchContext  = 80.0
	hotLoop      = 3
)

// row is a flag: its code, whether it is up and how badly, and what it says.
type row struct {
	code  string
	text  func(f *Fold) string
	level func(f *Fold) level
}

// rows is the table of flags. A level never falls because something bad
// happens: only what is good, or a person, clears a flag.
var rows = [flagCount]row{
	stuck: {"stuck", func(f *Fold) string {
		switch {
		case f.Failed:
			return "The last turn failed; the session does not go on by itself."
		case f.Loop.Hot >= hotLoop:
			return "The agent repeats itself and gets nowhere."
		}
		return fmt.Sprintf("Nothing has happened for %d minutes.", int(f.Silence.Minutes()))
	}, func(f *Fold) level {
		return when(critical, f.Failed || f.Loop.Hot >= hotLoop || f.Silence >= stuckAfter)
	}},
	waitingApproval: {"waiting_approval", func(f *Fold) string {
		return plural(len(f.Pending), "question waits", "questions wait") + " for an answer."
	},
		func(f *Fold) level { return when(info, len(f.Pending) > 0) }},
	stalled: {"stalled", func(f *Fold) string {
		return fmt.Sprintf("Nothing has happened for %d minutes.", int(f.Silence.Minutes()))
	}, func(f *Fold) level { return when(warn, f.Silence >= stalledAfter) }},
	degradedProvider: {"degraded_provider", func(f *Fold) string { return "The provider is degraded: " + f.Degraded + "." },
		func(f *Fold) level { return when(warn, f.Degraded != "") }},
	budgetTokens: {"budget_tokens", func(f *Fold) string { return pressure(f, totalTokens, "tokens") },
		func(f *Fold) level { return pressed(f, totalTokens) }},
	budgetCost: {"budget_cost", func(f *Fold) string { return pressure(f, costUSD, "US dollars") },
		func(f *Fold) level { return pressed(f, costUSD) }},
	budgetTime: {"budget_time", func(f *Fold) string { return pressure(f, runtimeMinutes, "minutes") },
		func(f *Fold) level { return pressed(f, runtimeMinutes) }},
	contextPressure: {"context_pressure", func(f *Fold) string {
		return fmt.Sprintf("The model's window is %.0f%% full.", f.Tally().ContextUsagePct)
	}, func(f *Fold) level {
		return max(when(warn, f.Context >= muchContext), when(critical, f.Context >= fullContext), pressed(f, contextUsage))
	}},
	toolFailures: {"tool_failures", func(f *Fold) string {
		return fmt.Sprintf("%d of the last %d calls failed.", f.Tools.failing(), f.Tools.Count)
	}, func(f *Fold) level {
		n := f.Tools.failing()
		return max(when(warn, n >= someFail), when(critical, n >= mostFail))
	}},
	slowTools: {"slow_tools", func(f *Fold) string {
		return fmt.Sprintf("A call took %d seconds.", f.Tools.Longest/1000)
	}, func(f *Fold) level { return when(warn, f.Tools.Slow) }},
	looping: {"looping", func(f *Fold) string { return plural(f.Loop.Hot, "warning", "warnings") + " of a loop." },
		func(f *Fold) level { return when(warn, f.Loop.Hot > 0) }},
	planChurn: {"plan_churn", func(f *Fold) string { return fmt.Sprintf("The plan repeated itself %d times.", f.Plan.Churn) },
		func(f *Fold) level {
			return max(when(info, f.Plan.Churn >= someChurn), when(warn, f.Plan.Churn >= mostChurn))
		}},
	noEvidence: {"no_evidence", func(f *Fold) string {
		return fmt.Sprintf("%d words or expenses without any result.", f.Evidence.Without)
	}, func(f *Fold) level {
		return max(when(info, f.Evidence.Without >= lowEnough), when(warn, f.Evidence.Without >= 2*lowEnough))
	}},
	recovering: {"recovering", func(*Fold) string { return "The turn is being tried again." },
		func(f *Fold) level { return when(warn, f.Again) }},
	expiring: {"expiring", func(f *Fold) string { return "The session expires at " + f.Expires.Format(time.RFC3339) + "." },
		func(f *Fold) level {
			if f.Expires.IsZero() {
				return none
			}
			left := f.Expires.Sub(f.Now)
			return max(when(warn, left <= expiresSoon), when(critical, left <= 0))
		}},
	orphanedProcess: {"orphaned_process", func(*Fold) string {
		return "An engine was lost in the middle of something; what it started may still run."
	}, func(f *Fold) level { return when(warn, f.Lost) }},
	lowFidelity: {"low_fidelity", func(f *Fold) string {
		if f.Blind {
			return "The engine does not tell what it uses: budgets of tokens and cost cannot be kept."
		}
		return "The engine tells less than others."
	}, func(f *Fold) level { return when(info, f.Blind || f.Faint) }},
}

func when(l level, holds bool) level {
	if holds {
		return l
	}
	return none
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// mark is a flag that is up, or not: since when, how badly, and by which events.
type mark struct {
	Level level         `json:"l,omitempty"`
	Since harness.Seq   `json:"s,omitempty"`
	By    []harness.Seq `json:"b,omitempty"` // the first, and the latest
}

// maxEvidence bounds the events that a flag names.
const maxEvidence = 5

func (m *mark) add(seq harness.Seq) {
	if n := len(m.By); n > 0 && m.By[n-1] == seq {
		return
	}
	if len(m.By) == maxEvidence {
		copy(m.By[1:], m.By[2:])
		m.By = m.By[:maxEvidence-1]
	}
	m.By = append(m.By, seq)
}

// judge raises and clears flags behind an event that is evidence of some. The
// events that a flag came from begin with what was touched before it rose, as
// far as it is remembered.
func (f *Fold) judge(touched flags) {
	if f.Policy != nil {
		f.tally = f.Tally()
	}
	for i := range rows {
		m := &f.Flags[i]
		now := rows[i].level(f)
		if now == none {
			if m.Level != none || len(m.By) > 0 && !f.rising(i) {
				*m = mark{}
			}
			if touched&set(i) != 0 && f.rising(i) {
				m.add(f.Seq)
			}
			continue
		}
		if m.Level == none {
			m.Since = f.Seq
		}
		m.Level = now
		if touched&set(i) != 0 || len(m.By) == 0 {
			m.add(f.Seq)
		}
	}
}

// rising reports whether what a flag is about has begun, though not enough of it
// to raise it: then its events are remembered.
func (f *Fold) rising(flag int) bool {
	switch flag {
	case toolFailures:
		return f.Tools.Recent&1 != 0
	case planChurn:
		return f.Plan.Churn > 0
	}
	return false
}

// penalty is what a flag costs of the score.
var penalty = [...]int{none: 0, info: 3, warn: 12, critical: 30}

// Score is 100 without the flags that are up, not below 0.
func (f *Fold) Score() int {
	score := 100
	for i := range f.Flags {
		score -= penalty[f.Flags[i].Level]
	}
	return max(0, score)
}

// Rate fills in what a session's row has of its health.
func (f *Fold) Rate(row *harness.Summary) {
	row.Score = f.Score()
	row.Grade = string(GradeOf(row.Score))
	row.Stuck = f.Flags[stuck].Level > none
	row.CostUSD = round(f.Tally().CostUSD, 4)
	row.Spent = slices.Clone(f.Days)
}

// Grade is a score in a word.
type Grade string

// The grades, from their lowest scores on: 85, 60, 30, 0.
const (
	Healthy  Grade = "healthy"
	Watch    Grade = "watch"
	Degraded Grade = "degraded"
	Failing  Grade = "critical"
)

// GradeOf is the grade of a score.
func GradeOf(score int) Grade {
	switch {
	case score >= 85:
		return Healthy
	case score >= 60:
		return Watch
	case score >= 30:
		return Degraded
	}
	return Failing
}

// Codes are the codes of all flags, in the order of snapshots.
func Codes() []string {
	codes := make([]string, 0, flagCount)
	for _, r := range rows {
		codes = append(codes, r.code)
	}
	return codes
}
