# Harness needs Go (see go.mod) and Node (for the tests only). Everything else
# is fetched when it is first missing. `make help` lists the targets.

GO     ?= go
NPM    ?= npm
BENCH  ?= .
PKG    ?= ./...
ARGS   ?=

# Test drivers written for Node keep a lockfile in testdata/node; the client in
# TypeScript has its own. npm writes
# node_modules/.package-lock.json last, so that file is the stamp. Those of
# bench are peers to compare with, 436 MB of them: only make bench wants them.
NODE_LOCKS  := $(shell find . \( -name node_modules -o -path ./bench \) -prune -o \( -path '*/testdata/node/package-lock.json' -o -path ./client/ts/package-lock.json \) -print)
NODE_STAMPS := $(NODE_LOCKS:package-lock.json=node_modules/.package-lock.json)
PEERS       := bench/testdata/node/node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help run build deps test lint bench long audit

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start the server; HARNESS_* and ARGS="--flag …" are passed on
	@exec bin/harness serve $(ARGS)

build: ## build bin/harness
	$(GO) build -o bin/harness ./cmd/harness

deps: $(NODE_STAMPS) ## fetch the npm packages the test drivers need

%/node_modules/.package-lock.json: %/package-lock.json
	$(NPM) ci --prefix $* --no-audit --no-fund --loglevel=error
	@touch $@

test: deps lint ## fetch what is missing, lint, run every test (PKG=./kernel for one package)
	$(GO) test $(PKG)

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(find . \( -name node_modules -o -name testdata \) -prune -o -name '*.go' -exec gofmt -l {} +); [ -z "$$unformatted" ] || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	$(GO) vet $(PKG)
	$(GO) tool staticcheck $(PKG)

bench: deps $(PEERS) ## run the benchmarks one package at a time (BENCH=regexp, PKG=./store/sqlite)
	$(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m $(PKG)
	cd bench && $(GO) test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m .
	cd bench && BENCH_GATES=1 $(GO) test -v -run TestGates -timeout 60m .

long: deps ## the tests again with LONG=1 and the race detector (needs a C compiler)
	LONG=1 $(GO) test -race -timeout 180m $(PKG)

audit: ## ask the Go vulnerability database about every dependency (needs the network)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0 $(PKG)
