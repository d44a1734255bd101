package claude

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"

	"harness/engine/internal/program"
	"harness/engine/internal/talk"
)

// process is a run of the program, and what is known about it.
type process struct {
	*program.Process
	*kept
}

// kept is what is known about a process that waits for a turn.
type kept struct {
	launch
	cost    float64 // of its turns so far
	tasks   int     // that it says run in the background
	refused bool    // it would not be configured as the session is
}

// occupant is the process of a slot that has one.
func occupant(s *program.Slot) process { return process{s.Process, s.Process.Kept.(*kept)} }

// start starts the program. ear hears it from its first word.
func (o *Options) start(l launch, ear *program.Listener) (*program.Process, error) {
	home, err := o.prepare(l)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	p, err := o.Start(program.Launch{
		Session: l.session, Directory: l.directory, Home: home, Args: slices.Concat(o.Program, l.args()), Env: environ(home.Path), Acts: acts,
		Why: program.Around("claude"),
	}, ear)
	if err != nil {
		return nil, err
	}
	p.Kept = &kept{launch: l}
	return p, nil
}

// prepare makes the directory of a session, with the conversation in it that it
// was branched off from.
func (o *Options) prepare(l launch) (*program.Home, error) {
	home, err := program.OpenHome(o.State, l.directory, "claude", l.session)
	if err != nil || l.from == "" || l.from == l.session {
		return home, err
	}
	err = home.Adopt(l.from, "config/projects", func(p string) bool { return path.Base(p) == l.resume+".jsonl" })
	if err != nil {
		home.Close()
		return nil, &talk.Lost{Why: err.Error()}
	}
	return home, nil
}

// reusable reports whether another turn may have the process.
func (p process) reusable() bool { return p.tasks == 0 && !p.refused && p.Reusable() }

// acts reports whether a line shows the program at work, or not as it was told to
// be, or cannot be read.
func acts(b []byte) bool {
	m, err := decode(b)
	switch m := m.(type) {
	case *response:
		return m.Response.Subtype == "error"
	case *streamed, *spoken, *request, *result:
		return true
	}
	return err != nil
}

// send tells the program something.
func (p process) send(m any) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return p.Tell(b)
}

// request asks the program for something and returns the request's id.
func (p process) request(body any) (string, error) {
	p.Serial++
	id := "h" + strconv.Itoa(p.Serial)
	return id, p.send(control{Type: "control_request", RequestID: id, Request: body})
}
