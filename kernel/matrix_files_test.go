package kernel

import (
	"errors"
	"strings"
	"testing"

	"harness"
)

// keepingScene is an idle machine whose files are kept.
func keepingScene(asks bool) *scene {
	s := newScene(opening(harness.SessionState{PermissionMode: new(harness.FullAuto)}), false)
	s.m.keep.files, s.m.keep.asks = true, asks
	return s
}

// allowed is a turn in which a call was allowed that may change files.
func allowed() *scene {
	s := keepingScene(true)
	s.submit("first")
	s.ask("call_1")
	return s
}

// marked ends the mark under way.
func (s *scene) marked(problem string) []effect {
	m := *s.m.keep.marking
	return s.do(marked{turn: m.turn, phase: m.phase, mark: harness.Mark{ID: "mrk_1"}, problem: problem})
}

// fileScenes reaches everything that a machine does about files.
var fileScenes = []struct {
	name  string
	reach func() *scene
}{
	{"idle", func() *scene { return keepingScene(true) }},
	{"starting", func() *scene { // an engine that does not ask waits for its mark
		s := keepingScene(false)
		s.submit("first")
		return s
	}},
	{"marking", allowed},
	{"marking/cancelling", func() *scene { s := allowed(); s.do(commanded{nil, harness.Cancel{}}); return s }},
	{"marking/ended", func() *scene { s := allowed(); s.do(ended{turn: s.turn()}); return s }},
	{"marked", func() *scene { s := allowed(); s.marked(""); return s }},
	{"failed", func() *scene { s := allowed(); s.marked("disk full"); return s }},
	{"ending", func() *scene {
		s := allowed()
		s.marked("")
		s.do(ended{turn: s.turn()})
		return s
	}},
	{"rewinding", func() *scene {
		s := keepingScene(true)
		s.do(commanded{nil, harness.Rewind{Message: "itm_1"}})
		return s
	}},
	{"rewinding/queued", func() *scene {
		s := keepingScene(true)
		s.do(commanded{nil, harness.Rewind{Message: "itm_1"}})
		s.submit("first")
		return s
	}},
	{"draining", func() *scene { s := keepingScene(true); s.do(drained{}); return s }},
}

// Every command has an answer whatever is being done about files; "waits" is one
// that is answered when the work is done.
func TestEveryCommandWhateverIsDoneAboutFiles(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, sc := range fileScenes {
		for _, st := range stimuli {
			if strings.HasPrefix(st.name, "answer") || strings.HasPrefix(st.name, "configure") || strings.HasSuffix(st.name, "/empty") {
				continue // nothing about them depends on files
			}
			s := sc.reach()
			got[st.name+" "+sc.name] = s.reaction(commanded{"client", st.cmd})
		}
	}
	compareTable(t, fileCommandTable, got)
}

// The end of every work on files has its effect.
func TestEveryEndOfWorkOnFiles(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, sc := range fileScenes {
		for name, problem := range map[string]string{"kept": "", "not-kept": "disk full"} {
			if s := sc.reach(); s.m.keep.marking != nil {
				m := *s.m.keep.marking
				got[name+" "+sc.name] = s.reaction(marked{turn: m.turn, phase: m.phase, mark: harness.Mark{ID: "mrk_2"}, problem: problem})
			}
		}
		for name, in := range map[string]rewound{
			"done":    {result: harness.Rewound{Safety: "mrk_2"}},
			"nothing": {},
			"partly":  {result: harness.Rewound{Safety: "mrk_2"}, err: errors.New("stuck"), problem: "stuck"},
			"refused": {err: harness.ErrInvalid, problem: "no such message"},
		} {
			if s := sc.reach(); s.m.keep.rewinding != nil {
				s.m.keep.rewinding.from = "client"
				got[name+" "+sc.name] = s.reaction(in)
			}
		}
	}
	compareTable(t, fileEndTable, got)
}

// reaction feeds an input and tells in a line what came of it: the answer to
// "client", the effects on engines and files, the events.
func (s *scene) reaction(in input) string {
	from := len(s.log)
	var words []string
	for _, e := range s.do(in) {
		switch e := e.(type) {
		case reply:
			word := "ok"
			if e.err != nil {
				word = harness.AsError(e.err).Code
			}
			if e.to == "client" {
				words = append(words, word)
			}
		case start:
			words = append(words, "start")
		case stop:
			words = append(words, "stop")
		case decide:
			word := "allow"
			if e.err != nil {
				word = "forget-it"
			}
			words = append(words, word)
		case steer:
			words = append(words, "say")
		case mark:
			words = append(words, "mark-"+string(e.phase))
		case rewind:
			words = append(words, "rewind")
		}
	}
	if len(words) == 0 {
		words = []string{"waits"}
	}
	return strings.Join(append(words, kinds(s.log[from:])...), " ")
}
