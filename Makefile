# Muster: every target works on a machine that has only Go and make.
GO      ?= go
N       ?= 10000
T       ?= 30
# Where goroutines meet: the packages that share memory between passes, calls and machines, and none that is pure or only declares
# types. Those that hold or run an API server would take longer than everything else together; exploration has a run of its own.
SHARED   = $(shell $(GO) list ./cloud/... ./engine/... ./kube/... ./sim/... ./view/... ./manager/... ./local/seed | grep -vE '/kube/machinepool/acceptancetest$$|/shapes')
# What the race detector does not run: a race is found by the paths that run at the same time, not by how often or with which values. Left
# out are the contract a second time over another specification of the same kind or with other permissions, and those of its cases that
# repeat the calls of others: with smaller pages, with other refusals and replies, with older reads. So is what measures allocations, and
# what feeds replies one by one. `go test ./...` runs all of them.
AGAIN    = StaleReads|(Throttled|Denied)(Step|Observation)|UnavailableStep|LostReply|IgnoredWrite|PagesOfOneItem|StepsWorkWithPages
REPEATS  = ^TestContractWithoutTemplate$$|^TestContractOfVMs$$|^TestContractWithLeastPermissions$$|^TestContract(Uniform|Flexible|Zonal|Regional)?$$/($(AGAIN))|^TestFollowKeepsTheRules$$|^TestCorePassCostsWhatThePoolHas$$|^FuzzReplies$$
# The packages with tests that test/testrun leaves out of go test.
LONG     = $(sort $(dir $(shell grep -rlF --include='*_test.go' testrun.LongOnly .)))
TOOLS    = $(GO) build -modfile=hack/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help up build test test-short test-long race explore prove mutants mutants-changed fuzz lint generate verify bench scale vuln release release-check release-push chart-test helm-test gitops-test upgrade-test

help: ## print these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-15s %s\n", $$1, $$2}'

up: ## run the local world: API servers, simulated clouds, controllers
	$(GO) run ./cmd/muster up

build: ## build both binaries into bin/
	$(GO) build -o bin/muster ./cmd/muster
	$(GO) build -o bin/manager ./cmd/manager

test: ## run all tests but the long ones
	$(GO) test ./...

test-short: ## run the tests that need no API server and no binary
	$(GO) test -short ./...

test-long: ## run the tests that go test leaves out for their time
	MUSTER_LONG=1 $(GO) test -timeout 30m -run '^TestLong' $(LONG)

race: ## run the packages that share memory under the race detector
	$(GO) test -race -timeout 20m -skip '$(REPEATS)' $(SHARED)
	$(GO) test -race -timeout 20m ./test/explore -run '^TestExplore$$|^TestMemAPI' -args -n 20

explore: ## explore N seeded scenarios (default 10000) in virtual time and disturb golden ones more often; report in bin/exploration.md
	@mkdir -p bin
	MUSTER_LONG=1 $(GO) test ./test/explore -v -timeout 8h -skip '^TestLongExplore$$' -args -n $(N) -disturb 100 -report $(CURDIR)/bin/exploration.md

prove: MACHINES = 2
prove: ## explore every state of pools of at most MACHINES machines; FLAGS="-usual" takes three cases of the largest number
	$(GO) test ./test/prove -run 'TestProve$$' -v -timeout 24h -args -machines $(MACHINES) $(FLAGS)

mutants: ## run every mistake of docs/mutations.md until a test notices it
	$(GO) test ./test/mutants -run TestLongMutants -v -timeout 2h -args -all

mutants-changed: ## run the mistakes in files that the branch changes, at most 12, begun within 2 minutes; pool and engine are in test-long
	$(GO) test ./test/mutants -run TestMutantsOfChangedFiles -v -timeout 20m -args -changed

fuzz: ## run every fuzz target for T seconds (default 30)
	hack/fuzz.sh $(T)

lint: bin/golangci-lint bin/actionlint ## hold the budgets: function, file, complexity, imports; check the workflows
	bin/actionlint .github/workflows/*.yaml
	$(GO) vet ./...
	bin/golangci-lint run --allow-parallel-runners

generate: ## make deepcopy, CRDs, RBAC and webhook manifests from the Go types
	hack/generate.sh

verify: lint ## lint, generated files without drift, tidy modules, links between the documents, long tests, mistakes in changed files, race detector on the packages that share memory
	hack/verify.sh
	$(GO) test ./test/docs -run '^TestLinks$$'
	$(MAKE) test-long
	$(MAKE) mutants-changed
	$(MAKE) race

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./pool/... ./engine/... ./kube/... ./cloud/... ./sim/... ./test/bench

scale: N = 1000
scale: ## start a world with N pools and measure it; FLAGS="-kill" and others: see docs/scale.md
	$(GO) run ./test/scale -n $(N) $(FLAGS)

.PHONY: docs
docs: VERSION = main
docs: SITE = bin/site
docs: bin/hugo ## build docs/ as a site into bin/site/main: VERSION=v0.1.0 names the folder, SITE=folder the one that holds all versions
	@mkdir -p '$(SITE)'
	HUGO_PARAMS_VERSION='$(VERSION)' bin/hugo build --source hack/docs --destination '$(abspath $(SITE))/$(VERSION)' --cleanDestinationDir --panicOnWarning --quiet
	hack/docs/versions.sh '$(SITE)'

vuln: bin/govulncheck ## check both binaries for known vulnerabilities; DB=file:///path reads a copy of the database
	bin/govulncheck $(if $(DB),-db $(DB)) ./cmd/...

release: helm-test bin/release-tool ## build a release into bin/release/VERSION, without Docker: VERSION=v0.1.0 [PLATFORMS=linux/amd64,linux/arm64]
	bin/release-tool -version '$(VERSION)' $(if $(PLATFORMS),-platforms '$(PLATFORMS)') $(if $(IMAGE),-image '$(IMAGE)') $(RELEASE_FLAGS)

release-push: bin/release-tool ## push the image of bin/release/VERSION: VERSION=v0.1.0 [IMAGE=ghcr.io/muster-project/muster]
	bin/release-tool -push 'bin/release/$(VERSION)' $(if $(IMAGE),-image '$(IMAGE)')

release-check: bin/release-tool ## verify the checksums of bin/release/VERSION and start its image's manager (Linux, as root)
	bin/release-tool -check 'bin/release/$(VERSION)'

chart-test: ## lint the Helm chart and compare it with config/, object by object
	cd hack/chart && $(GO) vet . && $(GO) test .

helm-test: bin/helm ## install the Helm chart with helm itself, on an API server
	HELM=$(CURDIR)/bin/helm $(GO) test ./test/install -run TestHelm -v

gitops-test: ## compare the published manifests with a world as Argo CD does
	$(GO) build -ldflags='-s -w' -o bin/muster ./cmd/muster
	cd hack/gitops && $(GO) vet . && MUSTER=$(CURDIR)/bin/muster $(GO) test -v -count=1 .

upgrade-test: ## have this build take over pools of the last release, or of UPGRADE_FROM=REVISION
	$(GO) test ./test/e2e -run 'TestUpgrade$$' -v -count=1 -timeout 30m

# The tool's own tests and the chart's run before each release: their modules are not part of go test ./...
.PHONY: bin/release-tool
bin/release-tool: chart-test
	cd hack/release && $(GO) vet . && $(GO) test . && $(GO) build -o ../../$@ .

bin/helm: hack/chart/go.mod
	cd hack/chart && $(GO) build -o ../../$@ helm.sh/helm/v3/cmd/helm

bin/hugo: hack/docs/go.mod
	cd hack/docs && $(GO) build -ldflags='-s -w' -o ../../$@ github.com/gohugoio/hugo

bin/govulncheck: hack/vuln/go.mod
	$(GO) build -modfile=hack/vuln/go.mod -o $@ golang.org/x/vuln/cmd/govulncheck

bin/golangci-lint: hack/tools/go.mod
	$(TOOLS) -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/actionlint: hack/workflows/go.mod
	$(GO) build -modfile=hack/workflows/go.mod -o $@ github.com/rhysd/actionlint/cmd/actionlint

# Debian's package, unpacked and not installed: it would start a server.
bin/promtool:
	mkdir -p bin/prometheus && cd bin/prometheus && apt-get download -q prometheus && dpkg-deb -x prometheus_*.deb . && ln -sf prometheus/usr/bin/promtool ../promtool

HTMX = 4.0.1
.PHONY: assets
assets: ## fetch the scripts of other projects that the web page serves (HTMX=VERSION), with their checksums; needs npm
	rm -rf bin/htmx && mkdir -p bin/htmx
	cd bin/htmx && npm pack --silent htmx.org@$(HTMX) && tar xzf htmx.org-$(HTMX).tgz
	cp bin/htmx/package/dist/htmx.min.js bin/htmx/package/dist/ext/hx-sse.min.js view/page/assets/
	cp bin/htmx/package/LICENSE view/page/assets/LICENSE.htmx
	cd view/page/assets && sha256sum htmx.min.js hx-sse.min.js LICENSE.htmx >SHA256SUMS

# Debian's packages, unpacked and not installed. The browser tests skip without it.
bin/chromium/usr/lib/chromium/chromium-headless-shell:
	rm -rf bin/chromium && mkdir -p bin/chromium
	cd bin/chromium && apt-get download -q $$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
	  --no-replaces --no-enhances chromium-headless-shell | grep '^[a-z0-9]' | sort -u) fonts-liberation
	cd bin/chromium && for package in *.deb; do dpkg-deb -x "$$package" . || exit 1; done && rm -f *.deb

.PHONY: browser
browser: bin/chromium/usr/lib/chromium/chromium-headless-shell bin/axe.min.js ## unpack what the browser tests run: headless Chromium and axe-core

.PHONY: screenshots
screenshots: browser ## take the pictures of the README, of a rollout in a world: docs/page-light.png and docs/page-dark.png
	SCREENSHOTS=$(CURDIR)/docs $(GO) test ./test/e2e -run '^TestScreenshots$$' -v -count=1

AXE = 4.14.1
bin/axe.min.js:
	mkdir -p bin/axe && cd bin/axe && npm pack --silent axe-core@$(AXE) && tar xzf axe-core-$(AXE).tgz && cp package/axe.min.js ../axe.min.js

bin/clusterctl: hack/clusterctl/go.mod
	$(GO) build -modfile=hack/clusterctl/go.mod -o $@ sigs.k8s.io/cluster-api/cmd/clusterctl
