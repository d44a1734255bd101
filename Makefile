# Harness needs Go (see go.mod) and Node (for the tests only). Everything else
# is fetched when it is first missing. `make help` lists the targets.

GO     ?= go
NPM    ?= npm
BENCH  ?= .
PKG    ?= ./...
ARGS   ?=

# Test drivers written for Node keep a lockfile in testdata/node; the client in
# TypeScript has its own. npm writes node_modules/.package-lock.json last, so that
# file is the stamp.
NODE_LOCKS  := $(shell find . -name node_modules -prune -o \( -path '*/testdata/node/package-lock.json' -o -path ./client/ts/package-lock.json -o -path ./console/package-lock.json \) -print)
NODE_STAMPS := $(NODE_LOCKS:package-lock.json=node_modules/.package-lock.json)

# The agents of other people that the bridges are tested with, and that bench
# compares us with: the package of this platform alone, in the versions and with
# the checksums of the lock file after which the directory is named. 1 GB, so it
# is in the user's cache, and no other working tree fetches it again.
CACHE       := $(if $(filter Darwin,$(shell uname)),$(HOME)/Library/Caches,$(or $(XDG_CACHE_HOME),$(HOME)/.cache))
AGENTS_LOCK := engine/agenttest/testdata/agents/package-lock.json
SHA256      := $(if $(shell command -v sha256sum),sha256sum,shasum -a 256)
AGENTS      := $(CACHE)/harness-test/agents-$(shell $(SHA256) $(AGENTS_LOCK) | cut -c1-12)

# Those that run in Node: 30 MB to fetch, 170 MB on disk. Without what they have
# for single platforms: one of them would fetch another Claude Code, of 250 MB.
NODE_LOCK   := engine/agenttest/testdata/node/package-lock.json
NODE_AGENTS := $(CACHE)/harness-test/node-agents-$(shell $(SHA256) $(NODE_LOCK) | cut -c1-12)

.DEFAULT_GOAL := help
.PHONY: help run build console deps agents test lint bench gates long audit

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start the server; HARNESS_* and ARGS="--flag …" are passed on
	@exec bin/harness serve $(ARGS)

build: ## build bin/harness, which needs no library of the system
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/harness ./cmd/harness

console: console/node_modules/.package-lock.json ## build the web console anew, after a change in console/src or client/ts/src
	$(NPM) run build --prefix console --silent

deps: $(NODE_STAMPS) ## fetch the npm packages the test drivers need

%/node_modules/.package-lock.json: %/package-lock.json
	$(NPM) ci --prefix $* --no-audit --no-fund --loglevel=error
	@touch $@

agents: $(AGENTS)/node_modules/.package-lock.json $(NODE_AGENTS)/node_modules/.package-lock.json ## fetch the agents that the bridges are tested with, into the user's cache

$(AGENTS)/node_modules/.package-lock.json:
	@mkdir -p $(AGENTS)
	cp $(dir $(AGENTS_LOCK))package.json $(AGENTS_LOCK) $(AGENTS)
	$(NPM) ci --prefix $(AGENTS) --ignore-scripts --no-audit --no-fund --loglevel=error

$(NODE_AGENTS)/node_modules/.package-lock.json:
	@mkdir -p $(NODE_AGENTS)
	cp $(dir $(NODE_LOCK))package.json $(NODE_LOCK) $(NODE_AGENTS)
	$(NPM) ci --prefix $(NODE_AGENTS) --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error

test: deps agents lint ## fetch what is missing, lint, run every test (PKG=./kernel for one package)
	$(GO) test $(PKG)

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(find . \( -name node_modules -o -name testdata \) -prune -o -name '*.go' -exec gofmt -l {} +); [ -z "$$unformatted" ] || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	$(GO) vet $(PKG)
	$(GO) tool staticcheck $(PKG)

bench: deps agents ## run the benchmarks one package at a time (BENCH=regexp, PKG=./store/sqlite)
	$(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m $(PKG)
	cd bench && $(GO) test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m .
	cd bench && BENCH_GATES=1 $(GO) test -v -run TestGates -timeout 60m .

gates: deps ## what the console costs a browser, beside what it may cost (a few minutes)
	LONG=1 $(GO) test -count=1 -p 1 -v -timeout 30m -run 'TestAnUpdateCosts|TestAThousand|TestALongSessionOpens|TestAPageThatStandsStill|TestALongListIsCheap|TestAKilledServer|TestAWindowCostsATenth|TestBundles|TestAFirstLoad' ./console/... ./client/ts

long: deps agents ## the tests again with LONG=1 and the race detector (needs a C compiler)
	LONG=1 $(GO) test -race -timeout 180m $(PKG)

audit: ## ask the Go vulnerability database about every dependency (needs the network)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0 $(PKG)
