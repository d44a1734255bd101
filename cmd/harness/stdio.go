package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/rpc"
)

// stdio speaks S4 on the process's own streams: for an editor, a script, or
// `harness run`.
func stdio(ctx context.Context, p *program, args []string) error {
	f := p.flags("stdio", "[flags]", "Speak JSON-RPC 2.0 on standard input and output, one message a line. Logs go to standard error.",
		"harness stdio --cwd ~/project",
		`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | harness stdio`,
		"harness stdio --connect http://127.0.0.1:7717")
	cwd := f.String("cwd", ".", "`DIR` that threads work in; its .harness directory keeps them")
	store := f.String("store", "", "keep threads in this `STORE` instead: jsonl:DIR, sqlite:PATH or memory")
	engine := f.engine()
	connect := f.String("connect", "", "`URL` of a running server whose threads to serve instead")
	lease := f.lease()
	timeout := f.Duration("approval-timeout", 0, "deny an approval that nobody answered after this time; 0 waits for ever")
	sources, house, shots, ruleFile, apart := f.secrets(), f.housing(), f.snapshots(), f.policy(), f.tasks()
	schema := f.Bool("schema", false, "print the JSON Schema of the protocol and stop")
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	if *schema {
		_, err := p.stdout.Write(rpc.Schema())
		return err
	}
	if *connect != "" {
		return tunnel(ctx, p, *connect)
	}
	hidden, err := p.hide(ctx, sources)
	if err != nil {
		return err
	}
	dir, err := directory(*cwd)
	if err != nil {
		return err
	}
	if *store == "" {
		*store = "jsonl:" + filepath.Join(dir, ".harness")
	}
	st, err := openStore(ctx, *store, place{data: dir})
	if err != nil {
		return err
	}
	defer st.Close()
	log := slog.New(hidden.Handler(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	calls, err := ruleFile.open(log)
	if err != nil {
		return err
	}
	data, ok := shots.beside(*store)
	depot := depotOf(st)
	switch {
	case depot != nil:
		data = filepath.Join(dir, own, "snapshots") // a copy
	case !ok && *shots.mode == "on":
		*shots.mode = "off" // a store without files keeps nothing
	}
	keep, err := shots.open(ctx, data, dir, depot, log)
	if err != nil {
		return err
	}
	defer keep.close()
	opts := &kernel.Options{Log: log, Directory: dir, ApprovalTimeout: *timeout, Redact: hidden, Policy: calls.of, Tasks: apart.beside(dataHome(p.getenv))}
	house.log, house.secrets = log, hidden
	if ok {
		house.data = filepath.Dir(data)
	}
	if ok || depot != nil {
		shelf, closeShelf, err := shelfOf(st, house.data)
		if err != nil {
			return err
		}
		defer closeShelf()
		opts.Shelf = shelf
	}
	name, eng, err := openEngine(*engine, house)
	if err != nil {
		return err
	}
	if c, ok := eng.(io.Closer); ok {
		defer c.Close()
	}
	opts.Engine, opts.Files = name, keep.filesOf(eng, name)
	nodes, err := among(st, name, *lease, log)
	if err != nil {
		return err
	}
	nodes.join(opts, eng)
	k := kernel.New(st, map[string]harness.Engine{name: eng}, opts)
	defer nodes.leave(log)
	defer k.Close()
	if err := nodes.start(ctx, k); err != nil {
		return err
	}
	if _, err := k.Recover(ctx); err != nil {
		return err
	}
	in := interruptible(ctx, p.stdin)
	err = rpc.Serve(ctx, k, in, p.stdout, &rpc.Options{Log: log, Version: release, Linger: drainFor, Rewinds: keep.trees != nil})
	in.Close()
	if ctx.Err() != nil {
		err = nil // it was told to stop
	}
	return errors.Join(err, settle(k))
}

// settle lets turns that still run come to their end, for a while: whoever
// pipes a few requests and closes the input wants them carried out.
func settle(k *kernel.Kernel) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainFor)
	defer cancel()
	if err := k.Drain(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// drainFor is how long turns may go on after the input has ended.
const drainFor = 10 * time.Second

// copyUntil copies until the source ends and reports what went wrong.
func copyUntil(dst io.Writer, src io.Reader, what string) error {
	if _, err := io.Copy(dst, src); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
