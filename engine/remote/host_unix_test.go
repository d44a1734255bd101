//go:build unix

package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"harness"
	"harness/custody"
	"harness/engine/remote"
	"harness/engine/script"
	"harness/protocol/runner"
	"harness/sandbox"
	"harness/sandbox/local"
)

// TestMain is also the runner that tests start, and the shim of its sandbox.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	if name := os.Getenv("HARNESS_TEST_SCRIPT"); name != "" {
		if err := host(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// host is what `harness runner --handover` does.
func host(name string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	given, err := remote.ReadHandover(os.Stdin)
	if err != nil {
		return err
	}
	book, err := custody.Open(given.Custody)
	if err != nil {
		return err
	}
	var e harness.Engine
	switch name {
	case "forest":
		e = forest{book}
	case "chief":
		e = chief{}
	default:
		if e, err = script.Open(name, nil); err != nil {
			return err
		}
	}
	l, err := runner.ListenSocket(os.Getenv("HARNESS_TEST_SOCKET"))
	if err != nil {
		return err
	}
	r := runner.New(e, &runner.Options{Token: given.Token, Version: "test"})
	srv := &http.Server{Handler: r}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(l) })
	fmt.Print(remote.Ready)
	rested := make(chan struct{})
	wg.Go(func() {
		defer close(rested)
		_ = r.Rest(ctx, time.Minute)
	})
	<-rested
	r.Close()
	err = srv.Close()
	wg.Wait()
	return err
}

// forest is an engine that grows processes which do not want to go.
type forest struct{ book *custody.Book }

func (forest) Abilities() harness.Abilities { return harness.Abilities{} }

func (f forest) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	w, err := f.book.Sandbox(local.New(nil)).Open(ctx, harness.WorkspaceSpec{Session: t.Session, Directory: t.Directory, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}})
	if err != nil {
		return err
	}
	defer w.Close()
	mark := harness.PlainText(t.Parts)
	tree := fmt.Sprintf(`sh -c 'trap "" TERM; sleep 600.%[1]s' & setsid sh -c 'sleep 600.%[1]s' & (setsid sh -c 'sleep 600.%[1]s &' &) ; sleep 600.%[1]s & touch grown; wait`, mark)
	c, err := w.Start(ctx, harness.Process{Args: []string{"/bin/sh", "-c", tree}})
	if err != nil {
		return err
	}
	if err := h.Emit(ctx, &harness.Token{Text: "growing"}); err != nil {
		return err
	}
	_, err = c.Wait()
	return errors.Join(err, context.Cause(ctx))
}

// runners is an engine of local runners that play a script, and its book.
func runners(t testing.TB, file string) (*remote.Engine, *custody.Book) {
	t.Helper()
	dir := t.TempDir()
	if file != "forest" && file != "chief" {
		src := filepath.Join(dir, "script")
		if err := os.WriteFile(src, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		file = src
	}
	return runnersIn(t, dir, file)
}

func runnersIn(t testing.TB, dir, file string) (*remote.Engine, *custody.Book) {
	t.Helper()
	return runnersOf(t, dir, file, 0)
}

func runnersOf(t testing.TB, dir, file string, most int) (*remote.Engine, *custody.Book) {
	t.Helper()
	book, err := custody.Open(filepath.Join(dir, "custody"))
	if err != nil {
		t.Fatal(err)
	}
	can := harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true}
	if file == "forest" {
		can = harness.Abilities{}
	}
	e, err := remote.Local(remote.LocalOptions{
		Dir: filepath.Join(dir, "runners"), Book: book, Version: "test", Abilities: can, Most: most,
		Command: func(socket string) *exec.Cmd {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), "HARNESS_TEST_SCRIPT="+file, "HARNESS_TEST_SOCKET="+socket)
			return cmd
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if _, err := book.Reconcile(context.Background(), func(custody.Entry) bool { return false }); err != nil {
			t.Error(err)
		}
	})
	return e, book
}
