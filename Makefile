# Needs Go, git and make; everything else is built into .cache (see internal/buildtool). No target needs
# cgo except race, which needs a C compiler.

SHELL := /bin/sh
GO ?= go
TOOL := $(GO) tool -modfile=internal/tools.mod
PACKAGES ?= ./...
# Packages are tested in the order of the arguments, two at a time on two processors. These take the longest, mostly waiting for servers and
# programs, and would be alone at the end.
LONGEST := ./internal/statestore/objects ./internal/cli ./internal/workerstest
ORDERED = $(if $(filter ./...,$(PACKAGES)),$(LONGEST)) $(PACKAGES)
CGO_ENABLED ?= 0
export CGO_ENABLED

# Puts an engine on PATH, the one that buildtool built where no other is installed, and lets it find providers.
ENGINE = engine="$$($(GO) run ./internal/buildtool engine)" && export PATH="$$PATH:$$(dirname "$$engine")" CHECKPOINT_DISABLE=1
# The same, but where no engine is there, none is built: cairn needs none.
IF_THERE = engine="$$($(GO) run ./internal/buildtool engine-if-there)" && if test -n "$$engine"; then PATH="$$PATH:$$(dirname "$$engine")"; fi && export PATH CHECKPOINT_DISABLE=1
PROVIDERS = TF_CLI_CONFIG_FILE="$$($(GO) run ./internal/buildtool mirror)" && export TF_CLI_CONFIG_FILE
PREPARED = $(ENGINE) && $(PROVIDERS)

# Leaves tofu as the only engine on PATH, also where terraform is installed, and has tests use it; built where it is not there yet.
TOFU = path="$$($(GO) run ./internal/buildtool tofu-path)" && export PATH="$$path" CHECKPOINT_DISABLE=1 CAIRN_TEST_ENGINE=tofu && $(PROVIDERS)

.PHONY: help build server test-server lint-server demo test test-tofu test-tofu-short test-terraform-short conformance ordering rpc differential rpc-fuzz fuzz stacks repositories damage soak together workers race lint fmt generate golden bench gobench release-snapshot release-test ci clean

help:
	@echo 'build     bin/cairn'
	@echo 'server    bin/cairn-server, which runs Temporal; test-server and lint-server test and check its module'
	@echo 'demo      plan, apply and destroy examples/quickstart in a temporary copy'
	@echo 'test      all tests; PACKAGES=./promising/... for some'
	@echo 'test-tofu all tests, and the demo, with tofu as the only engine'
	@echo '          CAIRN_TEST_ENGINE=native (auto, terraform, tofu) runs scripts, conformance and stacks with that engine'
	@echo 'conformance  tests of each behaviour of the language, and a table of them; ROWS=101-112 for some'
	@echo 'ordering  tests of each behaviour of the ordering of many stacks, and a table of them; ROWS="A-05-A-08 B order" for some'
	@echo 'rpc       tests of each behaviour of the RPC API against the process, and a table of them; ROWS="S P-01-P-05" for some'
	@echo 'differential  tests of each behaviour of the language of modules, with the native engine and terraform, and a table of them; ROWS=91-115 for some, DIFFERENTIALTIME=10m for random modules'
	@echo 'rpc-fuzz  hostile requests to the RPC API for RPCFUZZTIME=10m'
	@echo 'fuzz      every fuzz target for FUZZTIME=10m; FUZZ=FuzzLoad for some'
	@echo 'soak      kill cairn, engines and providers KILLS=500 times with each engine, cut the power as often, and count what is left; STORE=postgres|s3|gofakes3|gcs|directory with the states there'
	@echo 'workers   bring FAULTS=500 to runs on workers, count what is left, and measure what workers cost'
	@echo 'together  have USERS=8 users plan and apply random parts of one stack of 200 components FOR=10m; STORE as for soak'
	@echo 'stacks    check generated stacks of all sizes for STACKSTIME=10m; STACKS=TestName for some of the checks'
	@echo 'repositories  check REPOSITORIES=50 generated repositories of stacks, deployments and root modules'
	@echo 'damage    damage state and plan files DAMAGES=10000 times; what is read must be the truth or an error'
	@echo 'race      tests where things run at the same time, under the race detector'
	@echo 'lint      go vet, golangci-lint, formatting, go.mod'
	@echo 'fmt       format Go files'
	@echo 'generate  regenerate generated code'
	@echo 'golden    rewrite golden files from what the code does now'
	@echo 'bench     what docs/performance.md shows, in some ten minutes; BENCHFLAGS=-h says what can be chosen'
	@echo 'gobench   Go benchmarks of all packages; BENCH=regexp for some'
	@echo 'release-snapshot  all files of a release, in dist, without publishing them; release-test installs and runs them'
	@echo 'ci        what the gate runs'

# The gate clears the flags, so that what the program is made of is compiled once for it and for the tests.
BUILDFLAGS ?= -trimpath
build:
	$(GO) build $(BUILDFLAGS) -o bin/ ./cmd/cairn

# A module of its own. Its builds, tests and checks have the same flags, and those of internal/buildtool, so that Temporal is compiled once: that
# takes more than five minutes of processor time.
SERVER = cd server && GOFLAGS="$(GOFLAGS) -trimpath"
server:
	$(SERVER) $(GO) build -o ../bin/ ./cmd/cairn-server

test-server:
	$(SERVER) $(GO) test -timeout=15m ./...

lint-server:
	$(SERVER) $(GO) mod tidy -diff
	linter="$$($(TOOL) -n golangci-lint)" && $(SERVER) "$$linter" run ./...

demo: build
	@CAIRN=$(CURDIR)/bin/cairn sh examples/demo.sh

# Tests that compare with terraform or tofu are skipped where neither is there, and listed at the end. They open a file of the module that was just made, so that their results are
# not taken from the cache of test results, which would not list them.
test:
	@$(IF_THERE) && $(PROVIDERS) && \
		CAIRN_TEST_SKIPPED="$$($(GO) run ./internal/buildtool skip-file)" && export CAIRN_TEST_SKIPPED && \
		$(GO) test -timeout=30m $(ORDERED) && $(GO) run ./internal/buildtool skipped
	@echo 'go test: all packages passed'

ROWS ?=
conformance:
	@$(PREPARED) && $(GO) run ./internal/conformance $(ROWS)

ordering:
	@$(PREPARED) && $(GO) run ./internal/conformance -list=ordering $(ROWS)

rpc:
	@$(PREPARED) && $(GO) run ./internal/conformance -list=rpc $(ROWS)

# Asks terraform again for all that is recorded, and for random modules. CAIRN_DIFFERENTIAL=record records what it answers; CAIRN_DIFFERENTIAL_SEED names the seed
# of a module that has failed.
DIFFERENTIALTIME ?= 10m
differential: export CAIRN_DIFFERENTIAL ?= terraform
differential: export CAIRN_TEST_SEED ?= random
differential: export CAIRN_DIFFERENTIAL_TIME = $(DIFFERENTIALTIME)
differential:
	@$(PREPARED) && $(GO) run ./internal/conformance -list=modules $(ROWS)
	@$(if $(ROWS),,$(PREPARED) && $(GO) test ./internal/engine/differential -count=1 -timeout=30m -run='^(TestRealistic|TestStyles)$$')
	@$(if $(ROWS),,$(PREPARED) && $(GO) test ./internal/cli -count=1 -run='TestScripts/^files_real$$')
	@$(if $(ROWS),,$(PREPARED) && $(GO) test ./internal/engine/native/body ./internal/engine/native/change -count=1 -run=Terraform)

# A failure names the seed of its random requests, not of what happens at the same time.
RPCFUZZTIME ?= 10m
RPCFUZZFLAGS ?=
rpc-fuzz: export CAIRN_TEST_SEED ?= random
rpc-fuzz:
	@$(PREPARED) && $(GO) test ./internal/rpcapi/rpctest -v -count=1 -timeout=0 -run='^TestHostileRequests$$' -for=$(RPCFUZZTIME) $(RPCFUZZFLAGS)

test-tofu: build
	@$(TOFU) && $(GO) test -timeout=45m $(PACKAGES) && CAIRN=$(CURDIR)/bin/cairn sh examples/demo.sh
	@echo 'go test with tofu only: all packages passed'

# What differs most between the engines, in about two minutes: whole commands, unknown values, deferral, recovery, plan files.
SHORT_SCRIPTS = TestScripts/^(chain|deployments_life_.*|ephemeral|engine_errors|init|interrupt|json|order_gates_list|order_gates_rounds|order_gates_workspace|planfile|recover|removed|rounds|settings|state|unknown_count|unknown_for_each)$$
TOFU_TESTS = ^(TestContract|TestUnknownInputTypes|TestUnknownInstancesAreDeferred|TestUnknownEnabled|TestReadAlteredFiles|TestReadDriftedStates|TestTerraform.*|TestEmptyStateFileAfterKill|TestEngineAcceptsAllKindsOfSources)$$
test-tofu-short:
	@$(TOFU) && $(GO) test -timeout=15m -run='$(SHORT_SCRIPTS)' ./internal/cli && \
		$(GO) test -timeout=15m -run='$(TOFU_TESTS)' ./internal/engine/binary/...

# The same scripts with terraform, where others run with what cairn uses by itself: the packages of the binary engine test the rest.
test-terraform-short:
	@$(PREPARED) && CAIRN_TEST_ENGINE=terraform $(GO) test -timeout=15m -run='$(SHORT_SCRIPTS)' ./internal/cli

# Every target in turn, on one processor so that others can go on working. Minimizing what is interesting takes
# a minute an input by default, in which nothing new is tried.
FUZZTIME ?= 10m
FUZZ ?= .
FUZZFLAGS ?= -parallel=1 -fuzzminimizetime=3s
fuzz:
	@grep -rn --include=*_test.go '^func Fuzz' $$($(GO) list -f '{{.Dir}}' $(PACKAGES)) | \
		sed -n 's/^\(.*\)\/[^/]*_test\.go:[0-9]*:func \(Fuzz[A-Za-z0-9_]*\)(.*/\1 \2/p' | grep -e '$(FUZZ)' | sort -u | \
		while read -r dir target; do \
			echo "$$target in $$dir"; \
			(cd "$$dir" && $(GO) test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) $(FUZZFLAGS) .) </dev/null || exit 1; \
		done
	@echo 'go test -fuzz: done'

STACKSTIME ?= 10m
STACKS ?= .
stacks:
	@$(PREPARED) && $(GO) test ./internal/stackgen/stackcheck -v -timeout=0 -run='$(STACKS)' -for=$(STACKSTIME)

# A failure names the seed of its repository, which CAIRN_TEST_SEED takes with REPOSITORIES=1.
REPOSITORIES ?= 50
repositories: export CAIRN_TEST_SEED ?= random
repositories:
	@$(PREPARED) && CAIRN_REPOSITORIES=$(REPOSITORIES) $(GO) test ./internal/cli -v -count=1 -timeout=0 -run='^TestGeneratedRepositories$$'

# A failure names the seed; CAIRN_DAMAGE_SEED makes its damages again.
DAMAGES ?= 10000
damage: export CAIRN_TEST_SEED ?= random
damage:
	@CAIRN_DAMAGES=$(DAMAGES) $(GO) test -v -count=1 -timeout=0 -run='^TestRandomDamage$$' ./internal/statestore/tables ./stackruntime/stackplan

KILLS ?= 500
STORE ?= sqlite
soak: export CAIRN_TEST_SEED ?= random
soak:
	@$(PREPARED) && $(GO) test ./internal/soak -v -count=1 -timeout=0 -run='^(TestKills|TestPowerCuts)$$' -kills=$(KILLS) -cuts=$(KILLS) -store=$(STORE)

# A failure names the seed of its life: go test ./internal/workerstest -run TestFaults -seed SEED.
FAULTS ?= 500
workers: export CAIRN_TEST_SEED ?= random
workers:
	@$(PREPARED) && $(GO) test ./internal/workerstest -v -count=1 -timeout=0 -faults=$(FAULTS) -speed

FOR ?= 10m
USERS ?= 8
together: export CAIRN_TEST_SEED ?= random
together:
	@$(PREPARED) && $(GO) test ./internal/soak -v -count=1 -timeout=0 -run='^TestTogether$$' -together=$(FOR) -users=$(USERS) -bases=20 -store=$(STORE)

# A process under the race detector usually waits for a second before it ends, in case another
# goroutine is about to race: with some hundred short commands and providers, that is most of the time
# that this takes, and more than a race at their ends is worth. RACE_PACKAGES chooses others.
race: export CGO_ENABLED := 1
race: export GORACE ?= atexit_sleep_ms=0
race:
	@$(PREPARED) && packages="$${RACE_PACKAGES:-$(LONGEST) $$($(GO) run ./internal/buildtool race-packages)}" && \
		$(GO) test -race -shuffle=on -timeout=30m $$packages
	@echo 'go test -race: all packages passed'

lint:
	$(GO) mod tidy -diff
	@unformatted="$$($(TOOL) gofumpt -l .)" && \
		if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) golangci-lint run ./...

fmt:
	$(TOOL) gofumpt -l -w .

generate:
	$(GO) generate ./...

# Results of packages without golden files may come from the cache of test results: COUNT= allows that.
COUNT ?= -count=1
golden:
	@$(PREPARED) && UPDATE_GOLDEN=1 $(GO) test $(COUNT) -timeout=30m $(ORDERED)

BENCHFLAGS ?=
bench: build
	@$(ENGINE) && $(GO) run ./internal/bench -cairn=bin/cairn -engine="$$engine" $(BENCHFLAGS)

BENCH ?= .
gobench:
	@$(PREPARED) && $(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -timeout=60m $(PACKAGES)

ci:
	.ci/run

# All of a release but the signature, in dist. GoReleaser wants to know where the repository is, which a clone may not.
RELEASE := $(GO) tool -modfile=internal/release.mod
RELEASEFLAGS ?=
release-snapshot: export GIT_CONFIG_COUNT = 1
release-snapshot: export GIT_CONFIG_KEY_0 = remote.origin.url
release-snapshot: export GIT_CONFIG_VALUE_0 = https://github.com/cairnstacks/cairn
release-snapshot:
	$(RELEASE) goreleaser release --snapshot --clean --skip=sign $(RELEASEFLAGS)
	$(GO) run ./internal/buildtool images dist

# Installs and runs what release-snapshot has made; without that, the tests make a part of it.
release-test:
	CAIRN_TEST_RELEASE=$(CURDIR)/dist $(GO) test ./internal/releasetest -v -count=1

clean:
	rm -rf bin dist
