package tool

import (
	"context"
	"fmt"
	"slices"

	"harness"
)

const (
	// maxJobs bounds the background processes of a session that run at a time.
	maxJobs = 16
	// maxEnded bounds those that have ended and can still be asked about.
	maxEnded = 32
)

// job is a background process. It outlives the call that started it.
type job struct {
	id      string
	command string
	output  *capture
	kill    context.CancelFunc
	done    chan struct{} // closed when exit and err are set
	exit    harness.Exit
	err     error
}

// ended reports whether the process and all it started are gone.
func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// start runs a process in the background. It ends by itself, with kill, or with
// the state; its workspace's Close ends it, too.
func (s *State) start(ctx context.Context, w harness.Workspace, p harness.Process, command string) (*job, error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	j := &job{command: command, output: newCapture(nil), kill: kill, done: make(chan struct{})}
	p.Stdout, p.Stderr = j.output.stream("stdout"), j.output.stream("stderr")
	if err := s.admit(j); err != nil {
		kill()
		return nil, err
	}
	child, err := w.Start(life, p)
	if err != nil {
		kill()
		close(j.done)
		s.mu.Lock()
		s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
		s.mu.Unlock()
		return nil, err
	}
	s.running.Go(func() {
		defer kill()
		j.exit, j.err = child.Wait()
		j.output.end()
		close(j.done)
	})
	return j, nil
}

// admit gives the job its name and its place, unless there are too many.
func (s *State) admit(j *job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	var ended []*job
	for _, other := range s.jobs {
		if other.ended() {
			ended = append(ended, other)
		}
	}
	if len(s.jobs)-len(ended) >= maxJobs {
		return fmt.Errorf("%d background processes are running already; end one with bash_kill first", maxJobs)
	}
	if len(ended) >= maxEnded {
		s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == ended[0] })
	}
	s.last++
	j.id = fmt.Sprintf("bg_%d", s.last)
	s.jobs = append(s.jobs, j)
	return nil
}

// job finds a background process by its name.
func (s *State) job(id string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.id == id {
			return j, nil
		}
	}
	if len(s.jobs) == 0 {
		return nil, fmt.Errorf("there is no background process %q, and no other", id)
	}
	names := make([]string, len(s.jobs))
	for i, j := range s.jobs {
		names[i] = j.id
	}
	return nil, fmt.Errorf("there is no background process %q; there are %q", id, names)
}
