# Needs Go, Node 20 or newer with npm, make and apt; installs the rest.
#
#   make demo   builds everything and serves the demo page      make docs    builds the documentation and serves it
#   make test   everything that CI runs                         make bench   measures against other clients
#   make build  fills web/dist and web/demo/dist                make fuzz    a minute for each fuzz target
#   make check  what can be told without running the client     make clean   removes what was built or installed
#   make small  makes the small module anew, with TinyGo, and keeps it in web/small

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.DELETE_ON_ERROR:

# Stamping asks git, which refuses where the checkout belongs to another user, as in some CI containers.
export GOFLAGS += -buildvcs=false

stage := @scripts/stage
npm := node_modules/.package-lock.json
tests = $(sort $(shell find e2e -name '*.test.mjs' -not -path '*/node_modules/*'))
go_tests = $(addprefix e2e/,$(addsuffix .test.mjs, turn ends cancel replay crash other-build upload-roundtrip \
	upload-protocols upload-resume upload-crash))
# Not through ./...: the native packages do not compile for the browser.
browser := . ./wasm/... ./jsbridge/...

.PHONY: demo docs test build check bench fuzz clean
.PHONY: install contract border small kept format vet thirtytwo types size package arch reproducible native tinygo facade differential simulation chromium hostile gobuild newcomer e2e engines sizes documentation

# MODEL_URL=… MODEL=… lets a model answer; its key, if it wants one, is read from the environment variable MODEL_KEY, or from
# the one that MODEL_KEY_ENV names.
MODEL_KEY_ENV ?= MODEL_KEY
model = $(if $(MODEL_URL),-model-url '$(MODEL_URL)' -model '$(MODEL)' $(if $($(MODEL_KEY_ENV)),-model-key-env $(MODEL_KEY_ENV)))

demo: build
	@go build -o .cache/turnwire-dev ./cmd/turnwire-dev
	@exec .cache/turnwire-dev $(model)

docs: documentation
	@go build -o .cache/turnwire-dev ./cmd/turnwire-dev
	@exec .cache/turnwire-dev

# kept before build, which makes anew what kept would complain of.
test: install kept build check native tinygo facade differential simulation chromium hostile gobuild newcomer engines e2e

build: $(npm)
	$(stage) build node web/build.mjs

check: kept format border vet thirtytwo arch build types documentation size package reproducible

bench: build
	node bench/run.mjs

fuzz:
	scripts/fuzz

clean:
	rm -rf web/dist web/demo/dist .cache node_modules

$(npm): package-lock.json
	$(stage) "npm ci" npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# The C compiler is for the race detector.
install: $(npm)
	@scripts/apt-install git=git gcc=gcc gcc=libc6-dev chromium=chromium firefox-esr=firefox-esr WebKitWebDriver=webkit2gtk-driver xvfb-run=xvfb xauth=xauth redis-server=redis-server

format:
	$(stage) format scripts/format

# Writes what follows from jsbridge/contract; check fails where it was forgotten.
contract:
	go run ./internal/contract

border:
	$(stage) contract go run ./internal/contract -check

# Gets TinyGo, compiles the small module and keeps it in web/small; make build does so too where its sources have changed.
small: $(npm)
	node scripts/smallwasm.mjs record

# Compiles it once more, and fails unless it comes out as it is kept.
kept: $(npm)
	$(stage) "small module" node scripts/smallwasm.mjs check

vet:
	$(stage) vet go vet ./...
	$(stage) "vet for the browser" env GOOS=js GOARCH=wasm go vet $(browser)
	$(stage) "vet the build of the tests" env GOOS=js GOARCH=wasm go vet -tags testbuild . ./jsbridge/...

# Under an int of 32 bits, which a size outgrows. Without the tests that take long and are about no size.
thirtytwo:
	$(stage) "32-bit go tests" env GOARCH=386 CGO_ENABLED=0 go test -skip 'TestManyEvents|TestCutAtEveryByte|TestAgainstEventsourceParser|TestSimulation' ./wasm/... ./jsbridge/...

arch:
	$(stage) architecture go test -count=1 ./internal/arch

types:
	$(stage) types node_modules/.bin/tsc -p web
	$(stage) "types in use" node scripts/types.mjs

# The pages and the API reference, as they are served; a public name without words fails here.
documentation: $(npm)
	$(stage) documentation node docs/build.mjs

size:
	$(stage) size node scripts/size.mjs

# The tarball as it would be published.
package:
	$(stage) package node scripts/package.mjs

reproducible:
	$(stage) reproducible node scripts/reproduce.mjs

native:
	$(stage) "go tests" go test -race ./...
	$(stage) "go tests of the small module's hash" go test -tags tinygo ./wasm/checksum

# The core's tests again, by the compiler of the small module.
tinygo: $(npm)
	$(stage) "core tests by TinyGo" node scripts/test-tinygo.mjs

# What of web/src needs no browser.
facade: $(npm)
	$(stage) "facade tests" node --import ./web/test/typescript.mjs --test --test-reporter=dot web/test/*.test.mjs

# Both builds beside each other. Other seeds every day, as below; TURNWIRE_SEED=… for others.
differential: build
	$(stage) "both builds" node --import ./web/test/typescript.mjs --test --test-reporter=spec web/test/differential/differential.mjs

# Other seeds every day, so that what one machine saw another sees too; one that fails is named, and runs again with -seed.
simulation:
	$(stage) "simulation of turns" go test -count=1 -v -run Simulation ./wasm/turn -turns=10000 -from=$$(date -u +%Y%m%d)00000
	$(stage) "simulation of uploads" go test -count=1 -v -run Simulation ./wasm/upload -uploads=20000 -from=$$(date -u +%Y%m%d)00000

chromium:
	$(stage) "core tests in Chromium" node scripts/test-chromium.mjs

# Other seeds every day, as above: a failure says how one act is played again. HOSTILE_SECONDS=… for more than a minute,
# TURNWIRE_SEED=… for others.
hostile: build
	$(stage) "hostile service" node --test --test-reporter=spec e2e/hostile/hostile.mjs

# What depends on the module, with the standard build in place of the small one.
gobuild: build
	$(stage) "the standard build" env TURNWIRE_BUILD=go node --test --test-reporter=dot $(go_tests)

# A chat from an empty folder, by README's own words. A stage of its own, for it runs `make demo`, which builds.
newcomer: build
	$(stage) "the newcomer" node --test --test-reporter=dot e2e/newcomer.mjs

# Last of the stages, and without one's closing line: a run ends with the test runner's own summary and time.
e2e: build documentation
	@test -n "$(tests)" || { echo "e2e/ holds no *.test.mjs" >&2; exit 1; }
	@node --test --test-reporter=spec $(tests)

# What depends on the engine, in Firefox and WebKitGTK; ends with a table of what ran where.
engines: install build
	$(stage) "other engines" node e2e/engines.mjs

# Records what the built files are made of; make size compares with it past a budget.
sizes: build
	node scripts/size.mjs record
