# Every target is a thin name for commands that work without make as well.
GO      ?= go
SHARED  ?= ../shared
FUZZ    ?= 5m
BIN     := rollscope
CORE    := $(shell find core web wasm/engine -name '*.go' -not -name '*_test.go') $(wildcard wasm/*.go) $(shell find web/css web/assets -maxdepth 1 -type f 2>/dev/null) go.mod go.sum

.PHONY: view build wasm viewer release test unit e2e shots browser generate check bench fuzz conform clean

view: build                ## open the viewer on the embedded sample run
	./$(BIN) view

build: wasm                ## the command with everything inside: ./rollscope
	$(GO) build -trimpath -o $(BIN) ./cmd/rollscope

wasm: web/assets/built/rollscope.wasm  ## the module the page runs, compressed for serving
web/assets/built/rollscope.wasm: $(CORE)
	$(GO) run ./web/build

viewer: build              ## static viewer: dist/viewer/ for any host, dist/rollscope.html for a disk
	./$(BIN) bundle -o dist/viewer
	./$(BIN) bundle -o dist/rollscope.html

release:                   ## archives for every platform, the viewer, checksums: dist/release
	cd tools && $(GO) run ./release $(if $(ONLY),-only $(ONLY))

test: check unit e2e       ## everything CI runs

check:                     ## formatting, vet, generated code
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not formatted:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	cd wasm/e2e && $(GO) vet ./...
	cd tools && $(GO) vet ./release
	GOOS=windows $(GO) vet ./cmd/rollscope

unit:                      ## unit, golden, property and wazero tests
	$(GO) test ./...
	cd tools && $(GO) test ./release

e2e: build browser         ## the page in headless Chromium
	cd wasm/e2e && $(GO) test -count=1 -timeout 20m ./...

shots: build browser       ## pictures of every view, light and dark, wide and narrow: docs/shots
	rm -rf docs/shots
	cd wasm/e2e && $(GO) test -count=1 -run '^TestViews$$' -timeout 20m -bin ../../$(BIN) -shots ../../docs/shots .

browser:                   ## install Chromium where there is none
	@command -v chromium >/dev/null || { \
	  sudo=$$(test $$(id -u) = 0 || echo sudo); \
	  $$sudo apt-get update && $$sudo apt-get install -y --no-install-recommends chromium fonts-liberation; }

generate:                  ## *_templ.go from *.templ
	cd tools && $(GO) tool templ generate -path ../web

bench: build browser       ## budgets of the design, as ratios within one run
	$(GO) test -run "^$$" -bench "Budget|Workers|Memory" -benchtime 3x ./core/analysis ./core/projection ./core/search ./core/parcel
	cd wasm/e2e && $(GO) test -count=1 -run '^$$' -bench . -benchtime 1x -timeout 60m ./...

fuzz:                      ## every fuzzer for FUZZ each
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZ) $$p || exit 1; \
	  done; \
	done

conform: build             ## compare with reference results: make conform SHARED=DIR [ONLY=health]
	python3 $(SHARED)/tools/conform.py --bin ./$(BIN) --shared $(SHARED) $(if $(ONLY),--only $(ONLY))

clean:
	rm -rf $(BIN) dist
	find web/assets/built -type f -not -name README -delete
