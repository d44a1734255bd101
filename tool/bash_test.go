package tool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/tool"
)

func TestBash(t *testing.T) {
	t.Parallel()
	everySandbox(t, func(t *testing.T, s *session) {
		if got := s.do("bash", in{"command": "echo hi-$((40+2)); [[ -n $BASH_VERSION ]] && pwd"}); got != "hi-42\n"+s.env.Directory {
			t.Errorf("got %q", got)
		}
		if got := s.do("bash", in{"command": "true"}); got != "[no output, exit code 0]" {
			t.Errorf("got %q", got)
		}
		r, err := s.try("bash", in{"command": "echo out; echo err >&2; exit 3"})
		if e, ok := errors.AsType[*tool.ExitError](err); !ok || e.Code != 3 {
			t.Errorf("exit 3: error %v", err)
		}
		contains(t, r.Text, "out\n", "err\n", "[exit code 3]")
		contains(t, string(r.Data), `"exit_code":3`)
		contains(t, s.shown(), "stdout:out\n", "stderr:err\n")
		s.do("bash", in{"command": "mkdir -p a/b"})
		if got := s.do("bash", in{"command": "pwd", "directory": "a/b"}); got != s.env.Directory+"/a/b" {
			t.Errorf("in a/b: %q", got)
		}
		s.fails("bash", in{"command": "pwd", "directory": "no"}, "does not exist")
		s.fails("bash", in{"command": "pwd", "directory": "../x"}, "outside the workspace")
		if got := s.do("bash", in{"command": "cat; echo end"}); got != "end" {
			t.Errorf("with nothing to read: %q", got)
		}
	})
}

// pidIn waits for a file with the number of a process.
func (s *session) pidIn(name string) int {
	s.Helper()
	pid := 0
	until(s, "a process", func() bool {
		b, _ := os.ReadFile(filepath.Join(s.env.Directory, name))
		n, err := strconv.Atoi(strings.TrimSpace(string(b)))
		pid = n
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	return pid
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestTimeoutKillsTheWholeTreeAndSaysSo(t *testing.T) {
	t.Parallel()
	s := open(t)
	began := time.Now()
	r, err := s.try("bash", in{"command": `echo begun; (setsid sh -c 'echo $$ > deaf; trap "" TERM; while :; do sleep 1; done' &) ; sleep 1000`, "timeout_seconds": 1})
	if !errors.Is(err, tool.ErrTimeout) {
		t.Fatalf("got %v, want ErrTimeout", err)
	}
	contains(t, r.Text, "begun", "timed out after 1s")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	if pid := s.pidIn("deaf"); alive(pid) {
		t.Errorf("process %d outlives its call", pid)
	}
}

func TestCancelEndsACommand(t *testing.T) {
	t.Parallel()
	s := open(t)
	why := errors.New("the user said so")
	ctx, cancel := context.WithCancelCause(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		s.pidIn("pid")
		cancel(why)
	})
	r, err := s.tryIn(ctx, "bash", in{"command": "echo some; echo $$ > pid; sleep 1000"})
	wait.Wait()
	if !errors.Is(err, why) || errors.Is(err, tool.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	contains(t, r.Text, "some")
	if pid := s.pidIn("pid"); alive(pid) {
		t.Errorf("process %d outlives its call", pid)
	}
	if _, err := s.tryIn(ctx, "bash", in{"command": "touch no"}); !errors.Is(err, why) {
		t.Errorf("a call with a context that is done: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.env.Directory, "no")); err == nil {
		t.Error("it ran")
	}
}

func TestAFloodOfOutputLeavesMemoryFlat(t *testing.T) {
	s := open(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := s.try("bash", in{"command": "echo first; yes 0123456789abcdef | head -c 104857600; echo last"})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	contains(t, r.Text[:100], "first\n0123")
	contains(t, r.Text[len(r.Text)-100:], "last")
	contains(t, r.Text, "bytes are left out here")
	if len(r.Text) > 2<<20 || len(s.shown()) > 1<<20 {
		t.Errorf("%d bytes of text, %d shown", len(r.Text), len(s.shown()))
	}
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("100 MiB of output: %d bytes allocated in total, heap grown by %d", after.TotalAlloc-before.TotalAlloc, grown)
	if grown > 16<<20 || after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("heap grew by %d bytes, %d were allocated", grown, after.TotalAlloc-before.TotalAlloc)
	}
	runtime.KeepAlive(r)
}

func TestLogKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	s := open(t)
	text := s.do("bash", in{"command": `for i in $(seq 50); do printf '\303'; sleep 0.002; printf '\244'; done; printf '\377'`})
	if want := strings.Repeat("ä", 50) + "\uFFFD"; text != want {
		t.Errorf("got %q", text)
	}
	if got := strings.ReplaceAll(s.shown(), "stdout:", ""); got != strings.Repeat("ä", 50)+"\uFFFD" && got != strings.Repeat("ä", 50) {
		t.Errorf("shown: %q", got)
	}
}

func TestBackgroundProcesses(t *testing.T) {
	t.Parallel()
	everySandbox(t, func(t *testing.T, s *session) {
		contains(t, s.do("bash", in{"command": "mkfifo gate; echo ready; read x < gate; exit 4", "run_in_background": true}), "bg_1")
		contains(t, s.do("bash_output", in{"id": "bg_1", "wait_seconds": 60}), "ready", "[bg_1 is running]")
		if got := s.do("bash_output", in{"id": "bg_1"}); strings.Contains(got, "ready") {
			t.Errorf("output comes twice: %q", got)
		}
		s.do("bash", in{"command": "sleep 1000", "run_in_background": true})
		contains(t, s.do("bash_kill", in{"id": "bg_2"}), "[bg_2 was killed]")
		s.fails("bash_kill", in{"id": "bg_9"}, "bg_1")
		s.fails("bash", in{"command": "x", "run_in_background": true, "timeout_seconds": 3}, "no meaning")
	})
}

func TestABackgroundProcessThatEndsSaysHow(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.do("bash", in{"command": "echo said; exit 4", "run_in_background": true})
	var text string
	until(t, "its end", func() bool {
		text += s.do("bash_output", in{"id": "bg_1", "wait_seconds": 5})
		return strings.Contains(text, "ended")
	})
	contains(t, text, "said", "[bg_1 has ended with exit code 4]")
}

func TestBackgroundProcessesOutliveTheirCallAndEndWithTheState(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *session) error{
		"State.Close":     func(s *session) error { return s.env.State.Close() },
		"Workspace.Close": func(s *session) error { return s.env.Workspace.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := s.tryIn(ctx, "bash", in{"command": "sh -c 'echo $$ > pid; sleep 1000' & wait", "run_in_background": true}); err != nil {
				t.Fatal(err)
			}
			pid := s.pidIn("pid")
			cancel()
			s.do("bash", in{"command": "true"})
			if !alive(pid) {
				t.Fatal("it ended with its call")
			}
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Errorf("process %d outlives %s", pid, name)
			}
		})
	}
}

func TestAClosedStateStartsNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { _, _ = s.try("bash", in{"command": "sleep 1000", "run_in_background": true}) })
	}
	if err := s.env.State.Close(); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	if _, err := s.try("bash", in{"command": "sleep 1000", "run_in_background": true}); !errors.Is(err, tool.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestBackgroundProcessesAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 16 {
		s.do("bash", in{"command": "sleep 1000", "run_in_background": true})
	}
	s.fails("bash", in{"command": "sleep 1000", "run_in_background": true}, "16 background processes")
	s.do("bash_kill", in{"id": "bg_3"})
	contains(t, s.do("bash", in{"command": "sleep 1000", "run_in_background": true}), "bg_17")
}

func TestPlanOfBash(t *testing.T) {
	t.Parallel()
	s := open(t)
	for command, want := range map[string]struct {
		destructive bool
		says        string
	}{
		"ls -la":      {false, "run ls -la"},
		"rm -rf  x\n": {true, "run rm -rf x (deletes files)"},
	} {
		p, err := s.tools["bash"].Plan(s.env, fmt.Appendf(nil, `{"command":%q}`, command))
		if err != nil || p.Access != harness.AccessExecute || p.Keys != nil || p.Destructive != want.destructive || p.Summary != want.says {
			t.Errorf("%q: plan %+v, %v", command, p, err)
		}
	}
}
