# Muster: every target works on a machine that has only Go and make.
GO      ?= go
N       ?= 10000
T       ?= 30
# Everything but the packages that hold or run an API server, and those that run once more what others have run; exploration has a
# shorter run of its own.
LIGHT    = $(shell $(GO) list ./... | grep -vE '/muster/(local|cmd/muster|kube/machinepool/together|kube/machinepool/rows|test/e2e|test/compat|test/mutants|test/bench|test/permissions)(/|$$)|/test/explore$$')
TOOLS    = $(GO) build -modfile=hack/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help up build test race explore fuzz lint generate verify bench vuln

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
	$(GO) test -race -timeout 20m $(LIGHT) ./local/seed
	$(GO) test -race -timeout 20m ./test/explore -run 'TestExplore$$|TestOneSeed' -args -n 60

explore: ## explore N seeded scenarios (default 10000) in virtual time; the report is bin/exploration.md
	@mkdir -p bin
	$(GO) test ./test/explore -run 'TestExplore$$' -v -timeout 8h -args -n $(N) -report $(CURDIR)/bin/exploration.md

fuzz: ## run every fuzz target for T seconds (default 30)
	hack/fuzz.sh $(T)

lint: bin/golangci-lint ## hold the budgets: function, file, complexity, imports
	$(GO) vet ./...
	bin/golangci-lint run --allow-parallel-runners

generate: ## make deepcopy, CRDs, RBAC and webhook manifests from the Go types
	hack/generate.sh

verify: lint ## lint, generated files without drift, tidy modules, race detector on the light packages
	hack/verify.sh
	$(MAKE) race

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./pool/... ./engine/... ./kube/... ./cloud/... ./sim/... ./test/bench

vuln: bin/govulncheck ## check both binaries for known vulnerabilities; DB=file:///path reads a copy of the database
	bin/govulncheck $(if $(DB),-db $(DB)) ./cmd/...

bin/govulncheck: hack/vuln/go.mod
	$(GO) build -modfile=hack/vuln/go.mod -o $@ golang.org/x/vuln/cmd/govulncheck

bin/golangci-lint: hack/tools/go.mod
	$(TOOLS) -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/clusterctl: hack/clusterctl/go.mod
	$(GO) build -modfile=hack/clusterctl/go.mod -o $@ sigs.k8s.io/cluster-api/cmd/clusterctl
