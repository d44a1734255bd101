package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"harness"
	"harness/engine/script"
	"harness/store/jsonl"
	"harness/store/memory"
	"harness/store/postgres"
	"harness/store/sqlite"
)

// Who feeds whom, and how many of each run:
//
//	browser ══ WebSocket ══▶ delta.Hub ──▶ kernel.Kernel ──▶ harness.Store
//	 (many)                  (1)   ▲        (1; a goroutine    (1; one writer)
//	                               │         per awake session)
//	                               └──────── shared tail
//	                                         │
//	                                         └──▶ harness.Engine (1 per turn)
//
// Adding a store or an engine is a folder and a line in one of these tables.

// place is what a store's address may refer to.
type place struct {
	data string // the data directory
	rest string // the address behind "kind:"
	read bool   // only look
}

var stores = map[string]func(ctx context.Context, p place) (harness.Store, error){
	"memory": func(context.Context, place) (harness.Store, error) { return memory.New(), nil },
	"jsonl": func(ctx context.Context, p place) (harness.Store, error) {
		dir := p.rest
		if dir == "" {
			dir = filepath.Join(p.data, ".harness")
		}
		if p.read {
			return jsonl.Look(ctx, dir)
		}
		return jsonl.Open(ctx, dir, nil)
	},
	"sqlite": func(ctx context.Context, p place) (harness.Store, error) {
		path := p.rest
		if path == "" {
			path = filepath.Join(p.data, "harness.db")
		}
		if p.read {
			return sqlite.Look(ctx, path)
		}
		return sqlite.Open(ctx, path, nil)
	},
	"postgres":   openPostgres,
	"postgresql": openPostgres,
}

// openPostgres opens a store that its whole URL names.
func openPostgres(ctx context.Context, p place) (harness.Store, error) {
	if p.read {
		return postgres.Look(ctx, "postgres:"+p.rest)
	}
	return postgres.Open(ctx, "postgres:"+p.rest, nil)
}

var engines = map[string]func(arg string, h *housing) (harness.Engine, error){
	"script": func(arg string, _ *housing) (harness.Engine, error) {
		if arg == "" {
			return script.New(script.Demo(), nil), nil
		}
		return script.Open(arg, nil)
	},
	"auto":   func(_ string, h *housing) (harness.Engine, error) { return h.native() },
	"acp":    func(arg string, h *housing) (harness.Engine, error) { return h.acp(arg) },
	"codex":  func(arg string, h *housing) (harness.Engine, error) { return h.codex(arg) },
	"claude": func(arg string, h *housing) (harness.Engine, error) { return h.claude(arg) },
	"native": func(_ string, h *housing) (harness.Engine, error) { return h.native() },
	"http":   func(arg string, h *housing) (harness.Engine, error) { return h.elsewhere("http:" + arg) },
	"https":  func(arg string, h *housing) (harness.Engine, error) { return h.elsewhere("https:" + arg) },
}

// elsewhereKind is the name of the engine that is a runner at a URL.
const elsewhereKind = "remote"

// engine is the flag that says what runs turns.
func (f *flags) engine() *string {
	return f.String("engine", "auto", "`ENGINE`: native (auto), claude, codex, acp:COMMAND, script[:FILE], URL[,URL…], runner:ENGINE")
}

// split cuts "kind:rest".
func split(s string) (kind, rest string) {
	kind, rest, _ = strings.Cut(s, ":")
	return kind, rest
}

func openStore(ctx context.Context, address string, p place) (harness.Store, error) {
	kind, rest := split(address)
	open, ok := stores[kind]
	if !ok {
		return nil, fmt.Errorf("--store %s: unknown kind %q, want one of %s: %w", address, kind, names(stores), harness.ErrInvalid)
	}
	p.rest = rest
	return open(ctx, p)
}

func openEngine(address string, h *housing) (name string, e harness.Engine, err error) {
	kind, rest := split(address)
	if kind == "runner" { // it opens another one, so it cannot be a row
		e, err = h.nearby(rest)
		return kind, e, err
	}
	open, ok := engines[kind]
	if !ok {
		return "", nil, fmt.Errorf("--engine %s: unknown kind %q, want one of %s, or runner: and one of them: %w", address, kind, names(engines), harness.ErrInvalid)
	}
	e, err = open(rest, h)
	switch kind {
	case "http", "https":
		kind = elsewhereKind
	case "auto":
		kind = "native"
	}
	return kind, e, err
}
