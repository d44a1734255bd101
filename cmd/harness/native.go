package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"harness"
	"harness/egress"
	"harness/engine/native"
	"harness/memory"
	"harness/model"
	"harness/sandbox"
	"harness/tool"
	"harness/tool/mcp"
)

// native is the engine of our own: a model, tools in a sandbox, and what
// earlier sessions of the directory are to be remembered for.
func (h *housing) native() (harness.Engine, error) {
	ctx := context.Background()
	mind, err := h.brain.open(ctx, h.program, h.secrets)
	if err != nil {
		return nil, err
	}
	box := &later{pick: sync.OnceValues(func() (enclosed, error) { return h.enclose(ctx) })}
	h.about = append(h.about, [2]string{"model", mind.said})
	if !h.mayChooseLater() {
		got, err := box.pick()
		if err != nil {
			return nil, err
		}
		h.about = append(h.about, [2]string{"sandbox", fenced(got.notice)})
	}
	work := h.workspace()
	work.ReadOnly = append(work.ReadOnly, skills, profiles)
	var hosts func(string) bool
	if list := h.exit.domains(); len(list) > 0 { // what its commands may reach, and no more
		if hosts, err = egress.Listed(list); err != nil {
			return nil, err
		}
	}
	opts := &native.Options{
		Model: mind.model, Provider: mind.provider, Facts: model.KnownFacts(),
		Tools: tool.Builtin(tool.Options{Hosts: hosts}), Sandbox: box, Workspace: work,
		Notice: box.notice,
		Log:    h.log,
	}
	if *h.mcp != "" {
		if opts.Servers, err = readServers(*h.mcp); err != nil {
			return nil, err
		}
	}
	if *h.hooks != "" {
		if opts.Hooks, err = readHooks(*h.hooks); err != nil {
			return nil, err
		}
	}
	if h.data != "" {
		opts.Memory = func(directory string) (*memory.Book, error) {
			sum := sha256.Sum256([]byte(directory))
			return memory.Open(filepath.Join(h.data, "memory", hex.EncodeToString(sum[:8])+"-"+filepath.Base(directory)))
		}
	}
	var out *wayOut
	if len(h.exit.domains()) > 0 { // its models are asked from here, its commands go through tunnels
		got, err := box.pick()
		if err == nil {
			out, err = h.wayOut(ctx, got.notice)
		}
		if err != nil {
			return nil, err
		}
		opts.Sandbox = &outfitted{box, out.fit}
	}
	e := native.New(mind.client, opts)
	return agent{e, func() error { return errors.Join(e.Close(), out.Close()) }}, nil
}

// What of our own a workspace says to the native engine.
const (
	skills   = own + "/skills"
	profiles = own + "/agents"
)

// fenced is a notice for people.
func fenced(n harness.SandboxNotice) string {
	text := n.ResolvedBackend
	if n.Isolation == sandbox.KindNone {
		text += ", which isolates nothing"
	}
	if n.Reason != "" {
		text += " (" + n.Reason + ")"
	}
	return text
}

// readServers reads a file of MCP servers. It was named by whoever starts the
// process, so it is trusted; one that lies in a workspace is not looked for.
func readServers(path string) ([]mcp.Server, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--mcp: %w", err)
	}
	servers, err := mcp.Parse(text, nil)
	if err != nil {
		return nil, fmt.Errorf("--mcp %s: %w: %w", path, err, harness.ErrInvalid)
	}
	return servers, nil
}

// readHooks reads a file of hooks, which is trusted as --mcp is.
func readHooks(path string) ([]native.Hook, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--hooks: %w", err)
	}
	hooks, err := native.ParseHooks(text)
	if err != nil {
		return nil, fmt.Errorf("--hooks %s: %w", path, err)
	}
	return hooks, nil
}
