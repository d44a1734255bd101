package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"harness"
	remoteengine "harness/engine/remote"
	"harness/record"
	"harness/workspace"
)

// snapshots is the flag that says whether sessions' files are kept, so that they
// can be taken back.
type snapshots struct {
	mode *string
	home string
}

func (f *flags) snapshots() snapshots {
	return snapshots{
		f.String("snapshots", "on", "`MODE` on or off: keep files as they were before each turn, so that rewind can take them back"),
		f.p.getenv("HOME"),
	}
}

// keeper keeps snapshots; the zero value keeps none.
type keeper struct {
	trees *workspace.Trees
	tasks string // below it are workspaces that are made again if they are not here
	log   *slog.Logger
	stop  context.CancelFunc
	tends sync.WaitGroup
}

// open keeps snapshots below data until close, and tidies them up meanwhile. Dir
// is where sessions work unless they say otherwise. If there is a depot, what is
// below data is a copy of what it has.
func (s snapshots) open(ctx context.Context, data, dir string, depot harness.Depot, log *slog.Logger) (*keeper, error) {
	k := &keeper{log: log}
	switch *s.mode {
	case "off":
		return k, nil
	case "on":
	default:
		return nil, fmt.Errorf("--snapshots %s: want on or off: %w", *s.mode, harness.ErrInvalid)
	}
	k.trees = workspace.NewTrees(data, &workspace.Options{Home: s.home, Depot: depot})
	if _, err := k.trees.Of(dir); err != nil {
		log.Info("no snapshots here, so no rewind", "directory", dir, "err", err)
	}
	ctx, k.stop = context.WithCancel(ctx)
	k.tends.Go(func() {
		k.trees.Tend(ctx, func(dir string, c workspace.Collected, err error) {
			if err != nil {
				log.Warn("snapshots not tidied up", "directory", dir, "err", err)
				return
			}
			log.Info("snapshots tidied up", "directory", dir, "freed", c.Freed, "marks", c.Marks)
		})
	})
	return k, nil
}

// files is the kernel's, or nil.
func (k *keeper) files() func(string) (harness.Rewinder, error) {
	if k.trees == nil {
		return nil
	}
	return k.of
}

// restoreFor bounds how long a session waits for its workspace.
const restoreFor = 5 * time.Minute

// of finds the files of a directory. The workspace of an isolated session whose
// node is gone is made again of what that node kept.
func (k *keeper) of(dir string) (harness.Rewinder, error) {
	if rel, err := filepath.Rel(k.tasks, dir); k.tasks != "" && err == nil && filepath.IsLocal(rel) {
		ctx, cancel := context.WithTimeout(context.Background(), restoreFor)
		defer cancel()
		if err := k.trees.Restore(ctx, dir); err != nil {
			k.log.Error("workspace not made again", "directory", dir, "err", err)
		}
	}
	return k.trees.Of(dir)
}

// filesOf is the kernel's for an engine, or nil: a runner elsewhere has the files
// on its own machine.
func (k *keeper) filesOf(eng harness.Engine, name string) func(string) (harness.Rewinder, error) {
	if e, ok := eng.(*remoteengine.Engine); ok && name == elsewhereKind && k.trees != nil {
		return e.Files
	}
	return k.files()
}

// recorded is what turns can leave behind: also what they changed, where their
// files are here.
func (k *keeper) recorded(eng harness.Engine, name string, log *slog.Logger) *record.Options {
	o := &record.Options{Log: log}
	if _, elsewhere := eng.(*remoteengine.Engine); k.trees != nil && (!elsewhere || name != elsewhereKind) {
		o.Diff = k.trees.Diff
	}
	return o
}

func (k *keeper) close() {
	if k.stop != nil {
		k.stop()
		k.tends.Wait()
	}
}

// beside is where the snapshots of a store's sessions go: to its own files, or
// nowhere if it has none.
func (s snapshots) beside(store string) (data string, ok bool) {
	switch kind, path, _ := strings.Cut(store, ":"); {
	case path == "":
		return "", false
	case kind == "jsonl":
		return filepath.Join(path, "snapshots"), true
	case kind == "sqlite":
		return filepath.Join(filepath.Dir(path), "snapshots"), true
	}
	return "", false
}
