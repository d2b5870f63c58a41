# The commands a person types. What each needs is checked and installed first by dev/bootstrap.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

SWIFT_BUILD := dev/build
SWIFT_FILES := Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Floors

.PHONY: help
help: ## Lists the commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: ## Builds, starts server, local APNs and two virtual phones, plays the demo and leaves everything running.
	@dev/bootstrap run
	@dev/build --demo
	@.build/debug/tidings demo --stay

.PHONY: demo
demo: ## The same without staying: a timeline, and status 0 only if every step held.
	@dev/bootstrap run
	@dev/build --demo
	@.build/debug/tidings demo

.PHONY: test
test: ## Everything: rules, unit and interop tests, the demo and the short proofs; prints minutes per stage.
	@dev/test

.PHONY: check
check: lint ## The rules of the house: format, documented commands, imports, purity, sizes, words.
	$(SWIFT_BUILD) --build-tests
	swift test --configuration release --skip-build --filter '^TidyTests'

.PHONY: core
core: ## The short loop: builds one target and its tests and runs them. NAME=ServerCore, and FILTER=text for some of them.
	@dev/core $(NAME)$(if $(FILTER), "$(FILTER)")

.PHONY: lint
lint: ## The part of `check` that needs no build.
	@dev/lint

.PHONY: format
format: ## Formats the Swift files in place.
	swift format --in-place --parallel --recursive $(SWIFT_FILES)

.PHONY: hooks
hooks: ## Has git check the messages of your commits in this clone (dev/hooks).
	git config core.hooksPath dev/hooks

.PHONY: build
build: ## Builds everything.
	$(SWIFT_BUILD)

.PHONY: release
release: ## Builds the tool alone.
	$(SWIFT_BUILD) --product tidings

.PHONY: bench
bench: ## Measures the hot paths of the cores (a package of its own, Benchmarks/).
	cd Benchmarks && swift package --disable-sandbox benchmark

.PHONY: docs
docs: ## Builds the API reference of the products as a web site, .build/docs/site; what DocC warns of is an error.
	$(SWIFT_BUILD)
	@dev/docs

.PHONY: prove-mutation
prove-mutation: ## Breaks the cores in hundreds of places, one at a time, and rules by name; a test must fail (over an hour).
	dev/prove-mutation --table .build/mutation/table.md

# Failures print the seed that replays them.
.PHONY: prove-phone
prove-phone: ## 1,000 random sequences of 500 steps: phone and SDK as cores, then the kit's forwarded calls.
	$(SWIFT_BUILD) --build-tests
	TIDINGS_SEQUENCES=1000 swift test --configuration release --skip-build --filter 'A phone to which anything happens'
	TIDINGS_SEQUENCES=1000 swift test --configuration release --skip-build --filter 'Forwarded calls in any order'

.PHONY: prove-store
prove-store: ## 5,000 random sequences of 30 commands with restarts and crashes: the store on SQLite equals one in memory.
	$(SWIFT_BUILD) --build-tests
	TIDINGS_SEQUENCES=5000 swift test --configuration release --skip-build --filter 'A store on SQLite'

.PHONY: prove-local-store
prove-local-store: ## 2,000 random sequences of 25 steps with kills, a full phone and sign-outs: the phone's store equals the one in memory.
	$(SWIFT_BUILD) --build-tests
	TIDINGS_SEQUENCES=2000 swift test --configuration release --skip-build --filter 'A local store on SQLite'

.PHONY: prove-faults
prove-faults: ## The real server killed, without power, stopped, with bad disks, clocks and networks, and 10,000 clients at once; prints figures.
	@dev/bootstrap test
	$(SWIFT_BUILD) --product tidings
	dev/prove-faults

.PHONY: prove-abuse
prove-abuse: release ## Floods, made-up devices, half-open connections and a full disk beside 200 honest phones that must not feel it; prints figures.
	@dev/bootstrap test
	dev/prove-abuse

.PHONY: prove-api
prove-api: release ## 10,000 requests drawn from the API's description, with what is there and with what breaks it; every answer as described.
	@dev/bootstrap test
	dev/prove-api

.PHONY: prove-push
prove-push: release ## A push to 1,000,000 registered devices: bounded memory, exact statistics; killed half-way, cancelled half-way; prints figures.
	@dev/bootstrap test
	dev/prove-push

.PHONY: screenshots
screenshots: release ## Saves a picture of every page of the console, at three widths, light and dark, in both languages, in .build/screenshots; PICTURES=docs/pictures: those of the READMEs, too.
	@dev/bootstrap test
	.venv/bin/python Tests/Browser/screenshots.py .build/screenshots $(PICTURES)

.PHONY: prove-console
prove-console: release ## The console beside 2,000 messages a second for ten minutes: its first load, memory, how late it answers, what it costs; prints figures.
	@dev/bootstrap test
	.venv/bin/python Tests/Browser/prove_console.py

.PHONY: fuzz
fuzz: ## Millions of cases of bad input for everything that reads bytes from outside; prints how many of each kind.
	$(SWIFT_BUILD) --build-tests
	dev/fuzz

.PHONY: fuzz-apns
fuzz-apns: ## The part of `fuzz` that is about both sides of APNs: over a million cases.
	$(SWIFT_BUILD) --build-tests
	dev/fuzz apns

.PHONY: bench-apns
bench-apns: ## The APNs client and the local APNs beside h2load and aioapns, in release builds.
	@dev/bootstrap test
	$(SWIFT_BUILD) --product tidings
	dev/bench-apns

.PHONY: bench-server
bench-server: release ## Messages between two people beside relays in C and on SwiftNIO and mosquitto, in release builds; prints figures.
	dev/bench-server

.PHONY: prove-apns
prove-apns: release ## 200,000 pushes while connections, streams, answers and tokens fail, at least 1,000 times each; every push accounted for.
	.build/release/tidings chaos --notifications 200000 --at-least 1000

.PHONY: prove-worlds
prove-worlds: release ## 10,000 simulated phone-days on bad networks; every promise holds, every situation is reached. SHARD=i/n for a part.
	dev/prove-worlds $(if $(SHARD),--shard $(SHARD))

.PHONY: nightly
nightly: ## Every proof in full, one after the other: what `make test` proves in part. PROOFS="worlds fuzz" for some.
	@dev/bootstrap test
	$(SWIFT_BUILD) --build-tests
	dev/nightly $(PROOFS)

.PHONY: clean
clean: ## Removes what builds and tests made.
	rm -rf .build .venv .pytest_cache Benchmarks/.build Benchmarks/Floors/NIORelay/.build
