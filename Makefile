# make help lists the targets.

.DEFAULT_GOAL := help
FUZZ ?= 50000x
SAMPLE ?= 200
SECONDS ?= 300
FLAGS ?=

# What the program and the packages say they are.
VERSION ?= $(shell ./build/scripts/version.sh version)
REVISION ?= $(shell ./build/scripts/version.sh revision)
GO_LDFLAGS ?=
# Where addresses are drawn by lot and bound before the program begins, a broken
# pointer leads to less.
HARDENED ?= $(if $(filter linux,$(shell go env GOOS)),yes)
# Where make builds.
OUT ?= bin

# Where make install puts things; DESTDIR goes before all of it.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
SYSCONFDIR ?= $(if $(filter /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
UNITDIR ?= $(if $(filter /usr/local,$(PREFIX)),/etc/systemd/system,$(PREFIX)/lib/systemd/system)
DATADIR ?= $(PREFIX)/share
DOCDIR ?= $(DATADIR)/doc/weft
MANDIR ?= $(DATADIR)/man/man1
ZSHDIR ?= $(DATADIR)/zsh/site-functions
PLACES = $(foreach p,OUT DESTDIR BINDIR LIBDIR INCLUDEDIR SYSCONFDIR UNITDIR DATADIR DOCDIR MANDIR ZSHDIR,$(p)='$($(p))')
OSM_INCLUDE ?= /usr/include/infiniband
LIBWEFT_LDFLAGS := -Wl,-soname,libweft-c.so.1 -Wl,--version-script=$(CURDIR)/libweft/weft.map -Wl,-z,relro,-z,now -Wl,-z,noexecstack
VERSION_OF := github.com/weft-fabric/weft/internal/cli/internal/version
PLUGIN := $(if $(wildcard $(OSM_INCLUDE)/opensm/osm_event_plugin.h),plugin)
LIBWEFT := $(if $(shell command -v $(CC)),libweft)

.PHONY: help build libweft plugin weft-proof proof proof-mutants extract test web race conformance fuzz fuzz-plugin mutants bench bench-opensm bench-speed reproduce install uninstall package rpm package-proof rpm-proof release lint cover clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

build: ## build bin/weft
	@# The version is ours to say: where git does not answer, the Go tool fails or says nothing.
	go build -buildvcs=false $(if $(HARDENED),-buildmode=pie) -ldflags '$(if $(HARDENED),-bindnow )-X $(VERSION_OF).madeVersion=$(VERSION) -X "$(VERSION_OF).madeRevision=$(REVISION)" $(GO_LDFLAGS)' -o $(OUT)/weft ./cmd/weft

libweft: ## build bin/libweft-c.so.1, the library for C and Python (libweft/README.md)
	@mkdir -p $(OUT)
	CGO_ENABLED=1 go build -buildvcs=false -buildmode=c-shared -ldflags '-X "main.madeVersion=$(VERSION)" -extldflags "$(LIBWEFT_LDFLAGS)" $(GO_LDFLAGS)' -o $(OUT)/libweft-c.so.1 ./libweft
	@rm -f $(OUT)/libweft-c.so.h # what Go makes of the exported functions; weft.h is the interface

plugin: ## build bin/libweft.so, OpenSM's routing engine weft, for the OpenSM whose headers are installed
	@$(MAKE) --no-print-directory -C plugin OUT=$(abspath $(OUT)) OSM_INCLUDE=$(OSM_INCLUDE)

weft-proof: ## build bin/weft-proof, the checker that is extracted from the proofs (docs/proof.md); takes OCaml
	@./proof/checker/build.sh $(OUT)/weft-proof

proof: ## check all proofs from nothing (docs/proof.md); takes Coq
	@./build/scripts/proof.sh

proof-mutants: ## change the theories in one place at a time, and demand that Coq refuses each, and that each theorem is broken by one; takes Coq (ten minutes)
	@./build/scripts/proof-mutants.sh

extract: ## extract proof/checker/judge.ml and ethernetjudge.ml from the theories anew; takes Coq
	@./build/scripts/extract.sh

test: ## vet, lint, check the formatting and run every test; installs what they compare with, if it may, and says what (FAST=1 needs only Go)
	@$(if $(FAST),,./build/scripts/test-deps.sh)
	go vet ./...
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w is due on:"; echo "$$unformatted"; exit 1; fi
	@$(if $(FAST),,./build/scripts/lint.sh --if-possible)
	@$(if $(FAST),,./build/scripts/proof.sh --if-possible)
	@# go vet has looked at everything, and at more than go test would.
	$(if $(FAST),,WEFT_WHOLE=1) go test -vet=off -timeout 30m $(FLAGS) $(if $(FAST),-short $$(go list ./... | grep -v /test/e2e),./...)

web: ## bundle the program of report pages (internal/page/web/dist/report.js) anew; takes Node and npm
	cd internal/page/web && npm ci --silent --no-audit --no-fund && npm run --silent build

race: ## run every test under the race detector
	WEFT_WHOLE=1 go test -race -timeout 60m $(FLAGS) ./...

conformance: ## every engine on every ruin of every network (minutes)
	WEFT_THOROUGH=1 go test -count=1 -timeout 60m $(FLAGS) ./test/conformance

fuzz: ## try every fuzz function on FUZZ inputs (50000x), or for FUZZ=1m each
	./build/scripts/fuzz.sh $(FUZZ)

fuzz-plugin: ## fuzz the plugin's C over the wire format for SECONDS (300), with clang's libFuzzer and sanitizers
	./build/scripts/fuzz-plugin.sh $(SECONDS)

mutants: ## change the programs that decide in SAMPLE places (200), one at a time, and see whether a test notices (hours; goes on where it was stopped)
	go run ./build/scripts/mutants -sample $(SAMPLE) $(FLAGS)

bench: build ## measure time, memory and lanes (half an hour)
	go test -run '^$$' -bench . -benchmem -timeout 2h $(FLAGS) ./...
	bin/weft sweep test/bench/engines.yaml -o bin/bench

reproduce: build ## run the papers' experiments, the quick set (minutes; leave the machine alone meanwhile)
	bin/weft reproduce all --quick --opensm docs/results/opensm.csv --out bin/reproduce

bench-opensm: build plugin ## measure OpenSM's own engines and weft's in one OpenSM on simulated fabrics (minutes)
	$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -fPIC -fvisibility=hidden -isystem $(OSM_INCLUDE) -shared -o bin/libtimed.so test/bench/opensm/timed/timed.c
	go run ./test/bench/opensm -weft bin/weft -plugins bin -o test/bench/opensm/table.md $(FLAGS)

bench-speed: build plugin ## measure routing alone on large networks, OpenSM's engines and weft's in one run (minutes)
	$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -fPIC -fvisibility=hidden -isystem $(OSM_INCLUDE) -shared -o bin/libtimed.so test/bench/opensm/timed/timed.c
	go run ./test/bench/opensm -weft bin/weft -plugins bin -speed -o test/bench/opensm/speed.md $(FLAGS)

install: build $(PLUGIN) $(LIBWEFT) ## install weft, the plugin (with OpenSM's headers), the library, unit, configuration, manual and docs; DESTDIR, PREFIX
	@$(PLACES) ./build/scripts/install.sh $(if $(PLUGIN),,--no-plugin) $(if $(LIBWEFT),,--no-library)

uninstall: build ## remove what make install put there, by the same DESTDIR and PREFIX
	@$(PLACES) ./build/scripts/uninstall.sh

package: ## build a Debian package of the same in bin/
	@OUT='$(OUT)' VERSION='$(VERSION)' ./build/scripts/package.sh

rpm: ## build an RPM package of the same in bin/
	@OUT='$(OUT)' VERSION='$(VERSION)' REVISION='$(REVISION)' ./build/scripts/rpm.sh

package-proof: ## build a Debian package of weft-proof alone in bin/; takes OCaml
	@OUT='$(OUT)' VERSION='$(VERSION)' ./build/scripts/package-proof.sh deb

rpm-proof: ## build an RPM package of weft-proof alone in bin/; takes OCaml
	@OUT='$(OUT)' VERSION='$(VERSION)' ./build/scripts/package-proof.sh rpm

release: ## make all files of a release in bin/release, from a tagged commit: sources, archives, packages, SBOM, checksums
	@OUT='$(OUT)' VERSION='$(VERSION)' REVISION='$(REVISION)' ./build/scripts/release.sh

lint: ## run golangci-lint as .golangci.yml says, and compare what the library exports with the committed list
	@./build/scripts/lint.sh

cover: ## print the test coverage by function and in total
	@mkdir -p bin
	WEFT_WHOLE=1 go test -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -func=bin/cover.out

clean: ## remove what was built
	rm -rf bin
