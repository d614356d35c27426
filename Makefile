# Muster: every target works on a machine that has only Go and make.
GO      ?= go
N       ?= 10000
LIGHT    = $(shell $(GO) list ./api/... ./pool/... ./cloud/... ./engine/... ./kube/... ./sim/... ./view/... ./test/imports/...)
TOOLS    = $(GO) build -modfile=hack/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help up build test race explore lint generate verify bench

help: ## print these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

up: ## run the local world: API servers, simulated clouds, controllers
	$(GO) run ./cmd/muster up

build: ## build both binaries into bin/
	$(GO) build -o bin/muster ./cmd/muster
	$(GO) build -o bin/manager ./cmd/manager

test: ## run all tests
	$(GO) test -timeout 30m ./...

race: ## run the light packages under the race detector
	$(GO) test -race -timeout 20m $(LIGHT)

explore: ## explore N seeded scenarios (default 10000) in virtual time
	$(GO) test ./test/explore -run TestExplore -v -timeout 60m -args -n $(N)

lint: bin/golangci-lint ## hold the budgets: function, file, complexity, imports
	$(GO) vet ./...
	bin/golangci-lint run --allow-parallel-runners

generate: ## make deepcopy, CRDs, RBAC and webhook manifests from the Go types
	hack/generate.sh

verify: lint ## lint, generated files without drift, tidy modules, race detector on the light packages
	hack/verify.sh
	$(MAKE) race

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./pool/... ./engine/... ./kube/... ./cloud/... ./sim/...

bin/golangci-lint: hack/tools/go.mod
	$(TOOLS) -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
