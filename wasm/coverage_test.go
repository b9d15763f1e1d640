package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/wasm/engine"
)

// TestCoverage has the module hold the files of runs against each other, as the page does, and reads the numbers of the
// Coverage tab from its markup.
func TestCoverage(t *testing.T) {
	for _, name := range []string{"02-interrupted", "10-draft-journal", "15-failure-records", "23-omissions", "25-imported", "38-batch-status"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../testdata/runs", name)
			var files []input
			list, err := os.ReadDir(filepath.Join(dir, "run"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				b, err := os.ReadFile(filepath.Join(dir, "run", e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, input{Path: e.Name(), Size: len(b), data: b})
			}
			h := guest(t, "js")
			h.open(files, 700)
			var done struct{ Done bool }
			for range 1000 {
				if err := json.Unmarshal(h.answer(files, map[string]any{"op": "audit"}), &done); err != nil {
					t.Fatal(err)
				}
				if done.Done {
					break
				}
			}
			var page struct {
				Phase   string
				Regions map[string]string
			}
			if err := json.Unmarshal(h.answer(files, map[string]any{"op": "render", "fragment": "#tab=coverage", "fresh": true}), &page); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, "expected", "coverage.json"))
			if err != nil {
				t.Fatal(err)
			}
			var golden struct {
				Runs []struct{ Derived map[string]json.RawMessage }
			}
			if err := json.Unmarshal(b, &golden); err != nil || len(golden.Runs) != 1 {
				t.Fatal(err, len(golden.Runs))
			}
			if page.Phase != "ready" {
				t.Errorf("the page is %s", page.Phase)
			}
			for field, raw := range golden.Runs[0].Derived {
				value := strings.Trim(string(raw), `"`)
				if value == "null" {
					value = ""
				}
				if want := fmt.Sprintf(`data-stat="coverage.%s" data-value="%s"`, field, value); !strings.Contains(page.Regions["main"], want) {
					t.Errorf("%s is not %s", field, value)
				}
			}
		})
	}
}

// answer runs an operation of the desk and gives it the bytes that it needs.
func (h *host) answer(files []input, request map[string]any) []byte {
	h.t.Helper()
	for range 100 {
		b, err := h.desk(request)
		if !errors.Is(err, errNeeds) {
			if err != nil {
				h.t.Fatal(err)
			}
			return b
		}
		var n struct {
			Need []struct{ File, Offset, Length int }
		}
		if err := json.Unmarshal(b, &n); err != nil {
			h.t.Fatal(err)
		}
		for _, n := range n.Need {
			head := fmt.Appendf(nil, `{"file":%d,"offset":%d,"length":%d}`+"\n", n.File, n.Offset, n.Length)
			h.must(engine.OpBytes, append(head, files[n.File].data[n.Offset:n.Offset+n.Length]...))
		}
	}
	h.t.Fatal("it needs bytes again and again")
	return nil
}
