package main_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/search"
	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/wasm/engine"
)

// export takes a whole table out of the module.
func (h *host) export(fragment, table, form string) string {
	h.t.Helper()
	var b strings.Builder
	for from := 0; ; {
		answer, err := h.desk(map[string]any{"op": "export", "fragment": fragment, "table": table, "form": form, "from": from})
		if err != nil {
			h.t.Fatal(err)
		}
		var part struct {
			Text string
			Next int
			Done bool
		}
		if err := json.Unmarshal(answer, &part); err != nil {
			h.t.Fatal(err)
		}
		b.WriteString(part.Text)
		if part.Done {
			return b.String()
		}
		from = part.Next
	}
}

// TestSearch searches through the module, in ranges of a plain and a packed file, and wants the hits that are found
// natively: their counts, and of each place, pointer and text.
func TestSearch(t *testing.T) {
	sample := synth.Sample()[0].Data
	failed, err := os.ReadFile("../testdata/health/s05-failed-calls/input/rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	packed := zip(t, failed, len(failed)/3)
	files := []input{{Path: "a.jsonl", Size: len(sample), data: sample}, {Path: "b.jsonl.gz", Size: len(packed), data: packed}}
	plain := map[string][]byte{"a.jsonl": sample, "b.jsonl.gz": failed}
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			h := guest(t, form)
			h.open(files[:1], 1<<20)
			h.addPacked(files, 1)
			h.audit(files)
			for _, c := range []struct {
				fragment string
				options  search.Options
			}{
				{"search=the", search.Options{Pattern: "the", Literal: true, Fold: true}},
				{"search=The&set=search.case%3D1", search.Options{Pattern: "The", Literal: true}},
				{"search=%5Cb%5Ba-f%5D%5Cw%2B&set=search.as%3Dregexp%2Csearch.in%3Dmessage%2Btool_result", search.Options{Pattern: `\b[a-f]\w+`, Fold: true, Parts: search.Parts(0).With(search.Message).With(search.ToolResult)}},
				{"search=call&set=search.in%3Dall", search.Options{Pattern: "call", Literal: true, Fold: true, All: true}},
			} {
				want, total, kept := natively(t, c.options, plain)
				fragment := "#tab=search&columns=rollout,place,match,text,pointer,offset,length&" + c.fragment
				d := h.probed(fragment, files, 60_000)
				if got := d.inMain("search.hits"); got != fmt.Sprint(total) || d.Phase != "ready" {
					t.Errorf("%s: %s hits, want %d; phase %s", c.fragment, got, total, d.Phase)
				}
				rows, err := csv.NewReader(strings.NewReader(h.export(fragment, "hits", "csv"))).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, row := range rows[1:] {
					if row[4] != "" { // not the line for those that are not kept
						got = append(got, strings.Join(append(row[1:2:2], row[4:]...), " "))
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, want) || kept == 0 {
					t.Errorf("%s: %d rows, want %d: %.300q, want %.300q", c.fragment, len(got), len(want), got, want)
				}
			}
			for name, query := range map[string]string{
				"a damaged pattern": `{"search":{"Pattern":"("}}`, "no pattern": `{"search":{}}`,
			} {
				if _, err := h.call(engine.OpScan, fmt.Appendf(nil, `{"source":0,"from":0,"to":1,"query":%s}`, query)); err == nil {
					t.Errorf("%s is scanned for", name)
				}
			}
		})
	}
}

// inMain is a number of the main region.
func (d *drawn) inMain(name string) string {
	_, rest, _ := strings.Cut(d.Regions["main"], fmt.Sprintf(`data-stat="%s" data-value="`, name))
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// natively finds the hits of files without the module: place, pointer, offset and length of the first ten of a row.
func natively(t *testing.T, o search.Options, files map[string][]byte) (list []string, total, kept int) {
	t.Helper()
	s, err := search.New(o)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Finder()
	var reader rollout.Reader
	for name, data := range files {
		for i, line := range bytes.Split(data, []byte("\n")) {
			n := 0
			f.Row(reader.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true}), func(h *search.Hit) bool {
				total++
				if n++; n <= 10 {
					kept++
					list = append(list, fmt.Sprintf("%s:%d %s %d %d", name, i+1, h.Pointer, h.Offset, h.Length))
				}
				return true
			})
		}
	}
	slices.Sort(list)
	return list, total, kept
}
