# Needs Go, Node 20 or newer with npm, make and apt; installs the rest.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

.PHONY: build clean

build: node_modules/.package-lock.json
	@node web/build.mjs

node_modules/.package-lock.json: package-lock.json package.json web/package.json e2e/package.json bench/package.json
	npm ci --no-audit --no-fund
	@touch $@

clean:
	rm -rf web/dist web/demo/dist .cache node_modules
