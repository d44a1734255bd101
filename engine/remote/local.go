//go:build unix

package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"harness"
	"harness/custody"
	"harness/protocol/runner"
)

// LocalOptions say how local runners are started and kept.
type LocalOptions struct {
	// Command is a runner that listens on a Unix socket, reads its [Handover]
	// and prints [Ready]. Its streams and its session are set here.
	Command func(socket string) *exec.Cmd
	Dir     string            // where runners have their sockets and logs
	Book    *custody.Book     // where they are remembered
	Keys    map[string]string // handed over; see [Handover]
	Data    string

	Abilities harness.Abilities // of the engine that they host
	Version   string            // of the program; a runner of another is not used
	Most      int               // how many may be kept warm; [MaxRunners] if 0
	Log       *slog.Logger
}

// runners are the local ones, each for one session.
type runners struct {
	opts  LocalOptions
	seed  maphash.Seed
	locks [64]sync.Mutex // of sessions, by hash

	births chan *exec.Cmd // to whoever waits for their end
	keeper sync.WaitGroup

	mu   sync.Mutex // guards uses
	uses map[harness.SessionID]use
}

// Names in the directory of a runner.
const (
	socketName = "sock"
	tokenName  = "token"
	logName    = "log"
)

// startPatience is how long a runner may take until it listens.
const startPatience = 15 * time.Second

// Local is an engine whose turns are done by runners of this machine. They
// survive the server; [Engine.Close] ends those that have nothing to do.
func Local(opts LocalOptions) (*Engine, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open runners: %w: %w", err, harness.ErrStorage)
	}
	if opts.Most == 0 {
		opts.Most = MaxRunners
	}
	r := &runners{opts: opts, seed: maphash.MakeSeed(), births: make(chan *exec.Cmd), uses: map[harness.SessionID]use{}}
	r.keeper.Go(r.keep)
	return newEngine(r, opts.Abilities), nil
}

// tidy removes what runners left that are gone.
func (r *runners) tidy() {
	dirs, _ := os.ReadDir(r.opts.Dir) // what cannot be read is tidied another time
	for _, d := range dirs {
		ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
		c, err := runner.DialSocket(ctx, filepath.Join(r.opts.Dir, d.Name(), socketName))
		cancel()
		if err != nil {
			_ = os.RemoveAll(filepath.Join(r.opts.Dir, d.Name()))
			continue
		}
		c.Close()
	}
}

// keep waits for the end of every runner that was started here. Whoever starts
// one must not leave a goroutine behind, so this one does it.
func (r *runners) keep() {
	for cmd := range r.births {
		go func() { _ = cmd.Wait() }() // how it ended is in its log
	}
}

// close ends the runners that have nothing to do, and leaves those alone that
// work: the next server follows them.
func (r *runners) close() error {
	close(r.births)
	r.keeper.Wait()
	all, err := r.opts.Book.All()
	for _, e := range all {
		if e.Role != custody.Runner || filepath.Dir(filepath.Dir(e.Socket)) != r.opts.Dir {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
		h, asked := r.client(e.Session).Health(ctx)
		if asked == nil && !h.Busy {
			err = errors.Join(err, custody.Terminate(e))
		}
		cancel()
	}
	return err
}

func (r *runners) lock(s harness.SessionID) *sync.Mutex {
	return &r.locks[maphash.String(r.seed, string(s))%uint64(len(r.locks))]
}

func (r *runners) dir(s harness.SessionID) string { return filepath.Join(r.opts.Dir, string(s)) }

func (r *runners) client(s harness.SessionID) *runner.Client {
	token, _ := os.ReadFile(filepath.Join(r.dir(s), tokenName)) // without one it is refused
	return runner.NewSocketClient(filepath.Join(r.dir(s), socketName), strings.TrimSpace(string(token)))
}

func (r *runners) lodging(t harness.Turn) *lodging {
	return &lodging{
		client: r.client(t.Session), directory: t.Directory, leave: r.enter(t.Session), alone: true,
		kill: func(ctx context.Context) error { return r.kill(ctx, t.Session) },
		gone: func() bool {
			c, err := runner.DialSocket(context.Background(), filepath.Join(r.dir(t.Session), socketName))
			if err == nil {
				c.Close()
			}
			return err != nil
		},
	}
}

// find is the session's runner, if it has one.
func (r *runners) find(t harness.Turn) (*lodging, error) {
	if err := r.lives(t.Session); err != nil {
		return nil, err
	}
	return r.lodging(t), nil
}

// lives returns nil if the session has something that may be a runner.
func (r *runners) lives(s harness.SessionID) error {
	_, err := os.Stat(filepath.Join(r.dir(s), socketName))
	return err
}

// take is the session's runner if it is well and free, else a new one.
func (r *runners) take(ctx context.Context, t harness.Turn) (*lodging, error) {
	if err := harness.CheckID("session id", string(t.Session)); err != nil {
		return nil, err
	}
	mu := r.lock(t.Session)
	mu.Lock()
	defer mu.Unlock()
	if r.warm(ctx, t) {
		return r.lodging(t), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := r.kill(ctx, t.Session); err != nil {
		return nil, retryable("the runner before is still there", err)
	}
	r.makeRoom(ctx)
	if err := r.start(ctx, t); err != nil {
		return nil, retryable("start a runner", err)
	}
	return r.lodging(t), nil
}

// warm reports whether the session's runner can do another turn, which is then
// in the book as its own.
func (r *runners) warm(ctx context.Context, t harness.Turn) bool {
	if r.lives(t.Session) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	h, err := r.client(t.Session).Health(ctx)
	if err != nil || !h.OK || h.Busy || h.Version != r.opts.Version {
		return false
	}
	all, err := r.opts.Book.Of(t.Session)
	if err != nil {
		return false
	}
	for _, e := range all {
		if e.Role == custody.Runner {
			e.Turn = t.ID
			_, err = r.opts.Book.Record(e)
		}
	}
	return err == nil
}

// kill ends the session's runner, and with it the agent.
func (r *runners) kill(ctx context.Context, s harness.SessionID) error {
	all, err := r.opts.Book.Of(s)
	for _, role := range []custody.Role{custody.Runner, custody.Agent} {
		for _, e := range all {
			if e.Role == role {
				err = errors.Join(err, custody.Kill(ctx, e), r.opts.Book.Forget(e))
			}
		}
	}
	return err
}

// start starts a runner. It is in the book before it can do anything: until it
// has its hand-over it only waits, and if nobody is left to write that, it ends.
func (r *runners) start(ctx context.Context, t harness.Turn) error {
	dir := r.dir(t.Session)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	h := Handover{Token: rand.Text(), Keys: r.opts.Keys, Data: r.opts.Data, Custody: r.opts.Book.Dir()}
	if err := os.WriteFile(filepath.Join(dir, tokenName), []byte(h.Token+"\n"), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	in, give, err := os.Pipe()
	if err != nil {
		return err
	}
	defer give.Close()
	ready, out, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer ready.Close()
	socket := filepath.Join(dir, socketName)
	cmd := r.opts.Command(socket)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	in.Close()
	out.Close()
	if err != nil {
		return err
	}
	r.births <- cmd
	e, err := r.opts.Book.Record(custody.Entry{
		Session: t.Session, Turn: t.ID, Role: custody.Runner, ProcessRef: custody.Ref(cmd.Process.Pid), Socket: socket,
	})
	if err != nil {
		return err // it reads the end of its input, and ends
	}
	b, err := json.Marshal(h)
	if err == nil {
		_, err = give.Write(b)
	}
	if err = errors.Join(err, give.Close()); err == nil {
		err = listens(ctx, ready)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w%s", err, said(filepath.Join(dir, logName))), custody.Kill(ctx, e), r.opts.Book.Forget(e))
	}
	r.opts.Log.Info("runner started", "session", t.Session, "pid", e.PID)
	return nil
}

// listens waits until a runner says that it is ready.
func listens(ctx context.Context, from *os.File) error {
	if err := from.SetReadDeadline(time.Now().Add(startPatience)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = from.SetReadDeadline(time.Unix(1, 0)) })()
	word := make([]byte, len(Ready))
	for n := 0; n < len(word); {
		m, err := from.Read(word[n:])
		if n += m; err != nil {
			return cmp.Or(context.Cause(ctx), fmt.Errorf("the runner did not get ready: %w", err))
		}
	}
	return nil
}

// said is the end of what a runner wrote into its log.
func said(path string) string {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(b) == 0 {
		return ""
	}
	return ": " + message(string(b[max(0, len(b)-1000):]))
}
