# make help lists the targets.

.DEFAULT_GOAL := help
FUZZ ?= 50000x
FLAGS ?=
CORPUS := $(or $(WEFT_CORPUS),../shared)
REFERENCE := $(addprefix -reference ,$(wildcard $(CORPUS)/reference/README.md))

.PHONY: help build test race conformance fuzz bench reproduce lint cover clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

build: ## build bin/weft
	go build -o bin/weft ./cmd/weft

test: ## vet, check the formatting and run every test (installs OpenSM and ibsim if it may)
	@./scripts/test-deps.sh
	go vet ./...
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w is due on:"; echo "$$unformatted"; exit 1; fi
	go test $(FLAGS) ./...

race: ## run every test under the race detector
	go test -race $(FLAGS) ./...

conformance: ## every engine on every ruin of every network (minutes)
	WEFT_THOROUGH=1 go test -count=1 -timeout 60m $(FLAGS) ./conformance

fuzz: ## try every fuzz function on FUZZ inputs (50000x), or for FUZZ=1m each
	./scripts/fuzz.sh $(FUZZ)

bench: build ## measure time, memory and lanes (half an hour), beside OpenSM's figures where they are at hand
	go test -run '^$$' -bench . -benchmem -timeout 2h $(FLAGS) ./...
	go run ./bench/table -weft bin/weft $(REFERENCE)

reproduce: build ## run the papers' experiments, the quick set (minutes; leave the machine alone meanwhile)
	bin/weft reproduce all --quick --opensm results/opensm.csv --out bin/reproduce

lint: ## run golangci-lint, if it is installed
	@if command -v golangci-lint >/dev/null; then golangci-lint run ./...; \
	else echo "golangci-lint is not installed: https://golangci-lint.run"; fi

cover: ## print the test coverage by function and in total
	@mkdir -p bin
	go test -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -func=bin/cover.out

clean: ## remove what was built
	rm -rf bin
