package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/harness"
	"github.com/rollscope/rollscope/wasm/engine"
)

// audit has the desk compare its files, and supplies what it asks for.
func (h *host) audit(files []input) {
	h.t.Helper()
	for range 100_000 {
		answer, err := h.desk(map[string]any{"op": "audit"})
		switch {
		case err == errNeeds:
			h.supply(answer, files)
		case err != nil:
			h.t.Fatal(err)
		case string(answer) == `{"done":true}`:
			return
		}
	}
	h.t.Fatal("the audit goes on and on")
}

// supply answers a need.
func (h *host) supply(answer []byte, files []input) {
	h.t.Helper()
	var a struct {
		Need []struct{ File, Offset, Length int }
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		h.t.Fatal(err)
	}
	for _, n := range a.Need {
		head := fmt.Appendf(nil, "{\"file\":%d,\"offset\":%d,\"length\":%d}\n", n.File, n.Offset, n.Length)
		h.must(engine.OpBytes, append(head, files[n.File].data[n.Offset:n.Offset+n.Length]...))
	}
}

// probed draws a page until nothing is missing: second scans run in pieces, bytes are supplied.
func (h *host) probed(fragment string, files []input, piece int) drawn {
	h.t.Helper()
	for range 100 {
		answer, err := h.desk(map[string]any{"op": "render", "fresh": true, "fragment": fragment})
		if err == errNeeds {
			h.supply(answer, files)
			continue
		}
		if err != nil {
			h.t.Fatal(err)
		}
		var d drawn
		if err := json.Unmarshal(answer, &d); err != nil {
			h.t.Fatal(err)
		}
		switch {
		case d.Audit:
			h.audit(files)
		case d.Query != nil:
			h.ask(d.Query, files, piece)
		default:
			return d
		}
	}
	h.t.Fatalf("%s: something is missing for ever", fragment)
	return drawn{}
}

// TestHarness judges the harness cases through the module, in ranges, and compares with the judgement of whole files.
func TestHarness(t *testing.T) {
	cases, err := filepath.Glob("../testdata/harness/*/input.jsonl")
	if err != nil || len(cases) != 24 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			h := guest(t, form)
			for n, path := range cases {
				if form == "wasip1" && n%6 != 0 {
					continue
				}
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				files := []input{{Path: "input.jsonl", Size: len(data), data: data}}
				h.open(files, 50_000)
				for _, s := range []struct {
					text  string
					scope harness.Scope
				}{{"", harness.Scope{}}, {"no-tools%2Bno-steps", harness.Scope{NoTools: true, NoSteps: true}}, {"no-verifier%2Brequire-sandbox", harness.Scope{NoVerifier: true, RequireSandbox: true}}} {
					fragment := "#tab=harness&set=harness.scope%3D" + s.text
					page := h.probed(fragment, files, 40_000)
					got, downloaded := h.report(harness.ResultsFile, fragment)
					want, tally, refused := judged(data, s.scope)
					if refused != nil {
						if downloaded == nil || !strings.Contains(page.Regions["main"], "refuses these files") {
							t.Errorf("%s: %v is not told: %v", path, refused, downloaded)
						}
						continue
					}
					if downloaded != nil || !bytes.Equal(got, want) {
						t.Errorf("%s %s: %v\n%.300s\nwant\n%.300s", path, s.text, downloaded, got, want)
					}
					for i, k := range harness.All() {
						n := tally.Checks[i]
						for part, count := range map[string]int64{"pass": n.Passed, "fail": n.Failed + n.Blocked, "not_applicable": n.NotApplicable} {
							if got := page.stat("harness." + k.ID + "." + part); got != fmt.Sprint(count) {
								t.Errorf("%s %s: %s of %s: %s, want %d", path, s.text, part, k.ID, got, count)
							}
						}
					}
				}
			}
		})
	}
}

// judged is the judgement of a whole file.
func judged(data []byte, scope harness.Scope) ([]byte, *harness.Tally, error) {
	r := harness.NewReducer()
	if err := r.AddAll(0, "input.jsonl", new(harness.Mapper).MapLines(data)); err != nil {
		return nil, nil, err
	}
	report, err := r.Report(scope)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	err = report.WriteResults(&b)
	return b.Bytes(), report.Tally(), err
}
