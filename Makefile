# make run    installs what is missing, builds a release and serves with SQLite and the sandbox provider
# make test   installs what is missing and runs every test, on SQLite and on a throwaway PostgreSQL
# make lint   checks style and the documents; make format mends what it can
# make bench  measures a release's speed as ratios and prints a table (Benchmarks/README.md)
#             make bench COUNT=1 counts allocations, system calls and instructions of one operation, as root with perf
# make bench-beside measures beside it what would be taken instead: Apple's library for Python, FastAPI, and nginx where it is there
# make bench-million fills both engines with a million orders and measures every list, search and sum of them
# make costs counts statements and writes of the calls that come often, and writes Benchmarks/COSTS.md
# make faults injects faults into a release under load and compares its answers with the stored data, in minutes;
#             make faults-long does so for hours (Benchmarks/README.md); make faults-run runs what is built
# make fuzz   runs hostile bytes through AppleTrust under the address sanitizer (Fuzz/README.md)
# make example builds and tests Examples/PiggyDesk, a binary with a provider of its own
# make package makes a Debian package with the Swift runtime linked in, make tarball an archive for other systems, make image
#             an image for containers (as root); BINARY=path takes a binary that is built (docs/packages.md)
# make deploy-check judges deploy/ by systemd-analyze and promtool; make package-check and make image-check (as root) install
#             the package in a bare Debian and walk the first five minutes, and run the image
# make sanitize  runs every test under the thread sanitizer and under the address sanitizer; a report fails it
# make docs   writes the documentation that the server has at /docs as files, into .build-docs; SITE= names another folder
# make openapi writes docs/openapi.json, which a test compares with what the server serves
# make smoke  pays an order through the debug binary over HTTP, kills it, starts it and looks again
# make browsers tests the pages in Chromium and WebKitGTK, on SQLite and PostgreSQL beside each other; BROWSERS_ENGINE=sqlite
#             or postgres takes one alone, BROWSERS_SHARED=true takes Chromium on the one and WebKitGTK on the other, BROWSERS_TESTS="-v
#             test_portal" takes these tests alone; make pages takes a picture of each into .build-pages, for a person to
#             look at
# make webshop serves a shop on another origin beside Paydesk (Examples/WebShop)
# make javascript tests the modules of the pages and of paydesk.js with node, and their types with tsc
# make sdk    type-checks the SDK's Apple parts, and builds an app that depends on this package without the trait Server
# make client makes a Python client from the served OpenAPI document; it checks out, attaches and refunds
# make schemathesis sends what Schemathesis makes of the OpenAPI document, as a user, a partner and an admin; EXAMPLES=200
#             makes more of it

SWIFT ?= swift
# The build of what the checks below run; `make test` builds it, too, and DEBUG_BUILD=true takes that.
DEBUG_BUILD ?= $(SWIFT) build --product paydesk
FUZZ_RUNS ?= 1000000
BENCH_PACKAGES = gcc libc6-dev
BESIDE_PACKAGES = $(BENCH_PACKAGES) python3 python3-venv
RUN_PACKAGES = libssl-dev libcurl4-openssl-dev libsqlite3-dev libpq-dev libqrencode-dev zlib1g-dev
TEST_PACKAGES = $(RUN_PACKAGES) postgresql openssl curl python3 python3-venv zbar-tools
LINT_PACKAGES = python3 python3-jsonschema python3-yaml
PACKAGE_PACKAGES = dpkg-dev binutils lintian xz-utils
ROOT_PACKAGES = debootstrap util-linux systemd python3
# Debian's own, which has Debian's modules.
PYTHON ?= /usr/bin/python3
SOURCES = $(shell git ls-files -co --exclude-standard -- '*.swift')
# tidy.sh lints the others, by stricter rules.
TESTS = $(shell git ls-files -co --exclude-standard -- '*.swift' | grep -E '(^|/)Tests/|^Package.swift$$')

.PHONY: run sdk test lint format bench bench-beside bench-million costs faults faults-run faults-long faults-build fuzz example sanitize \
    smoke docs openapi client schemathesis javascript browsers pages webshop \
    static package tarball image image-root package-check image-check deploy-check \
    packages-run packages-test packages-lint packages-faults packages-package packages-root

run: packages-run
	$(SWIFT) build -c release --product paydesk
	.build/release/paydesk serve

# The tests' databases go to memory where there is room for them: durability is not what they measure, and a busy disk
# makes them many times slower. As many tests at once as keep the cores busy: all at once only wait for each other.
TEST = TMPDIR=$$(sh Tests/Scripts/scratch.sh) sh Tests/Scripts/test.sh $(SWIFT) test --skip-build \
    --experimental-maximum-parallelization-width 16
test: packages-test sdk
	$(SWIFT) build --build-tests
	$(TEST)

sdk:
	@sh Tests/Scripts/apple-parts.sh $(SWIFT)
	@sh Tests/Scripts/apart.sh $(SWIFT)

lint: packages-lint
	@$(SWIFT) format lint --strict --parallel $(TESTS)
	@sh Tests/Scripts/tidy.sh $(SWIFT)
	@sh Tests/Scripts/apple-parts.sh $(SWIFT)
	@$(PYTHON) Tests/Scripts/docs.py
	@$(PYTHON) Tests/Scripts/words.py
	@$(PYTHON) Tests/Scripts/deploy.py

format:
	@$(SWIFT) format --in-place $(SOURCES)

bench: packages-run
	@sh Tests/Scripts/install.sh $(BENCH_PACKAGES)
	$(SWIFT) build -c release --product paydesk
	$(SWIFT) build -c release --product paydesk-bench
	.build/release/paydesk-bench $(if $(COUNT),--only counts)

bench-beside: packages-run
	@sh Tests/Scripts/install.sh $(BESIDE_PACKAGES)
	@sh Tests/Scripts/beside.sh
	$(SWIFT) build -c release --product paydesk
	$(SWIFT) build -c release --product paydesk-bench
	.build/release/paydesk-bench --only beside --python .build-beside/bin/python

bench-million: packages-test
	$(SWIFT) build -c release --product paydesk
	$(SWIFT) build -c release --product paydesk-bench
	.build/release/paydesk-bench --only million --postgres

costs: packages-test
	$(SWIFT) build --build-tests
	PAYDESK_WRITE_COSTS=true $(SWIFT) test --skip-build --filter OperationCostTests

fuzz:
	@sh Fuzz/run.sh $(SWIFT) $(FUZZ_RUNS)

sanitize: packages-test
	@sh Tests/Scripts/sanitize.sh $(SWIFT) thread
	@sh Tests/Scripts/sanitize.sh $(SWIFT) address

smoke:
	$(DEBUG_BUILD)
	sh Tests/Scripts/smoke.sh .build/debug/paydesk

javascript:
	@sh Tests/Scripts/javascript.sh

browsers:
	$(DEBUG_BUILD)
	@sh Tests/Scripts/browsers.sh .build/debug/paydesk $(BROWSERS_TESTS)

pages:
	$(DEBUG_BUILD)
	@sh Tests/Scripts/browsers.sh .build/debug/paydesk --pages .build-pages

webshop: packages-run
	$(DEBUG_BUILD)
	@sh Tests/Scripts/install.sh python3 curl
	@sh Examples/WebShop/run.sh .build/debug/paydesk

client: packages-test
	$(DEBUG_BUILD)
	sh Tests/Scripts/client.sh .build/debug/paydesk

schemathesis: packages-test
	$(DEBUG_BUILD)
	sh Tests/Scripts/schemathesis.sh .build/debug/paydesk

SITE ?= .build-docs
docs: packages-run packages-lint
	$(DEBUG_BUILD)
	PYTHON=$(PYTHON) sh Tests/Scripts/site.sh .build/debug/paydesk $(SITE)

openapi: packages-run packages-lint
	$(DEBUG_BUILD)
	PYTHON=$(PYTHON) sh Tests/Scripts/openapi.sh .build/debug/paydesk >docs/openapi.json.new
	mv docs/openapi.json.new docs/openapi.json

# As a package of somebody else's: in a folder of its own, from nothing at the first time. EXAMPLE_BUILD=.build takes the
# libraries that `make test` has built, which are the same.
EXAMPLE_BUILD ?= .build-example
EXAMPLE = --package-path Examples/PiggyDesk --scratch-path $(EXAMPLE_BUILD)
example: packages-test
	$(SWIFT) build --build-tests $(EXAMPLE)
	$(SWIFT) test --skip-build $(EXAMPLE)
	sh Tests/Scripts/example.sh $(EXAMPLE_BUILD)/debug/piggydesk

# Afterwards the test is tested: what clients were told is taken away, and a disk lies about what is durable; all of it
# must be reported (exit 1). FAULTS_BUILD=debug takes what `make test` has built. `faults-run` builds and installs nothing,
# so that it can run beside other work; FAULTS_PLAN=--brief takes a shorter plan.
FAULTS_BUILD ?= release
FAULTS = .build/$(FAULTS_BUILD)/paydesk-faults --binary .build/$(FAULTS_BUILD)/paydesk
faults: faults-build
	@$(MAKE) --no-print-directory faults-run

faults-run:
	$(FAULTS) $(FAULTS_PLAN)
	$(FAULTS) --only power-cut --rounds 10 --lies; test $$? -eq 1
	$(FAULTS) --lose; test $$? -eq 1

faults-long: faults-build
	$(FAULTS) --long

faults-build: packages-test packages-faults
	$(SWIFT) build -c $(FAULTS_BUILD) --product paydesk
	$(SWIFT) build -c $(FAULTS_BUILD) --product paydesk-faults

# No section that nothing uses, no symbols for libraries that are loaded later (6 MB), no path to libraries of its own.
STATIC_LINK = -Xlinker --gc-sections -Xlinker --no-export-dynamic --disable-local-rpath
# What runs on a machine without Swift. Beside the other builds, because the libraries are compiled otherwise.
ifndef BINARY
BINARY = .build-static/release/paydesk
static: packages-run
	$(SWIFT) build -c release --static-swift-stdlib $(STATIC_LINK) --scratch-path .build-static --product paydesk
else
static:
endif

package: static packages-package
	sh deploy/scripts/package.sh $(BINARY)

tarball: static packages-package
	sh deploy/scripts/tarball.sh $(BINARY)

# The newest package that `make package` made.
DEB = $$(ls -t .build-package/paydesk_*.deb | head -1)
image: package packages-root
	@sh Tests/Scripts/install.sh buildah
	sh deploy/scripts/image.sh $(DEB)

# For deploy/Dockerfile.
image-root: package packages-root
	sh deploy/scripts/image-root.sh $(DEB) .build-package/image/root.tar

package-check: package packages-root
	sh deploy/scripts/check-package.sh $(DEB)
	sh deploy/scripts/first-five-minutes.sh $(DEB)

image-check: image
	sh deploy/scripts/check-image.sh $$(ls -t .build-package/paydesk-*.oci.tar | head -1)

deploy-check:
	@sh Tests/Scripts/install.sh systemd
	sh deploy/scripts/check.sh

packages-run:
	@sh Tests/Scripts/install.sh $(RUN_PACKAGES)

packages-test:
	@sh Tests/Scripts/install.sh $(TEST_PACKAGES)
	@sh Tests/Scripts/interop.sh

packages-lint:
	@sh Tests/Scripts/install.sh $(LINT_PACKAGES)

# Without it the clock is left alone, and the run says so.
packages-faults:
	@sh Tests/Scripts/install.sh faketime gcc libc6-dev

packages-package:
	@sh Tests/Scripts/install.sh $(PACKAGE_PACKAGES)

packages-root:
	@sh Tests/Scripts/install.sh $(ROOT_PACKAGES)
