# make run    installs what is missing, builds a release and serves with SQLite and the sandbox provider
# make test   installs what is missing and runs every test, on SQLite and on a throwaway PostgreSQL
# make lint   checks style; make format mends what it can
# make bench  measures a release's speed as ratios and prints a table (Benchmarks/README.md)
# make crash  kills a release 50 times under load on each engine and compares what clients were told with what is there
# make fuzz   runs hostile bytes through AppleTrust under the address sanitizer (Fuzz/README.md)
# make smoke  pays an order through the debug binary over HTTP, kills it, starts it and looks again

SWIFT ?= swift
FUZZ_RUNS ?= 1000000
RUN_PACKAGES = libssl-dev libcurl4-openssl-dev libsqlite3-dev libpq-dev libqrencode-dev
TEST_PACKAGES = $(RUN_PACKAGES) postgresql
SOURCES = $(shell git ls-files -co --exclude-standard -- '*.swift')

.PHONY: run test lint format bench crash fuzz smoke packages-run packages-test

run: packages-run
	$(SWIFT) build -c release --product paydesk
	.build/release/paydesk serve

# The tests' databases go to memory where there is room for them: durability is not what they measure, and a busy disk
# makes them many times slower.
test: packages-test
	$(SWIFT) build --build-tests
	TMPDIR=$$(sh Tests/Scripts/scratch.sh) $(SWIFT) test --skip-build

lint:
	@$(SWIFT) format lint --strict $(SOURCES)
	@sh Tests/Scripts/tidy.sh $(SWIFT)

format:
	@$(SWIFT) format --in-place $(SOURCES)

bench: packages-run
	$(SWIFT) build -c release --product paydesk
	$(SWIFT) build -c release --product paydesk-bench
	.build/release/paydesk-bench

fuzz:
	@sh Fuzz/run.sh $(SWIFT) $(FUZZ_RUNS)

smoke:
	$(SWIFT) build --product paydesk
	sh Tests/Scripts/smoke.sh .build/debug/paydesk

# Afterwards the test is tested: what clients were told is taken away, and all of it must be reported (exit 1).
crash: packages-test
	$(SWIFT) build -c release --product paydesk
	$(SWIFT) build -c release --product paydesk-crash
	.build/release/paydesk-crash --rounds 50
	.build/release/paydesk-crash --rounds 2 --lose; test $$? -eq 1

packages-run:
	@sh Tests/Scripts/install.sh $(RUN_PACKAGES)

packages-test:
	@sh Tests/Scripts/install.sh $(TEST_PACKAGES)
