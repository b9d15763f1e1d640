package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/wasm/engine"
)

// A second is the second scan that a render asks for.
type second struct {
	ID, Filter, Probe string
	Search            json.RawMessage
	Scan              []struct {
		Source, File, From, To int
		Packed                 bool
	}
}

// drawn is the answer to a render, as far as a filter is concerned.
type drawn struct {
	Phase   string
	Query   *second
	Audit   bool
	Regions map[string]string
}

func (h *host) draw(request map[string]any) drawn {
	h.t.Helper()
	answer, err := h.desk(request)
	if err != nil {
		h.t.Fatal(err)
	}
	var d drawn
	if err := json.Unmarshal(answer, &d); err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (d *drawn) stat(name string) string {
	_, rest, _ := strings.Cut(d.Regions["stats"], fmt.Sprintf(`data-stat="%s" data-value="`, name))
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// ask runs the parts of a second scan that are still missing, in pieces.
func (h *host) ask(q *second, files []input, piece int) {
	h.t.Helper()
	query, err := json.Marshal(map[string]any{"id": q.ID, "filter": q.Filter, "probe": q.Probe, "search": q.Search})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, task := range q.Scan {
		data := files[task.File].data
		for from := task.From; from < task.To; from += piece {
			to := min(from+piece, task.To)
			if task.Packed {
				from, to = task.From, task.To
			}
			answer := h.must(engine.OpScan, fmt.Appendf(nil, `{"source":%d,"from":%d,"to":%d,"packed":%t,"query":%s}`, task.Source, from, to, task.Packed, query))
			var begun struct{ Next int }
			if err := json.Unmarshal(answer, &begun); err != nil {
				h.t.Fatal(err)
			}
			for at, done := begun.Next, false; !done && at < len(data); at += 20_000 {
				done = h.feed(data[at:min(at+20_000, len(data))])
			}
			h.add(h.must(engine.OpFinish, nil))
			if task.Packed {
				break
			}
		}
	}
}

// TestQuery filters on values inside rows through the module, of a plain and a packed file.
func TestQuery(t *testing.T) {
	sample := synth.Sample()[0]
	packed := zip(t, sample.Data, len(sample.Data)/2)
	files := []input{{Path: "a.jsonl", Size: len(sample.Data), data: sample.Data}, {Path: "b.jsonl.gz", Size: len(packed), data: packed}}
	// What every row says, found by looking.
	want := map[string]int{}
	rows := 0
	for line := range strings.Lines(string(sample.Data)) {
		var row struct {
			Response struct {
				Model string
				Usage struct{ Total_tokens float64 }
			}
		}
		rows++
		if json.Unmarshal([]byte(line), &row) != nil {
			continue
		}
		if row.Response.Usage.Total_tokens > 2500 {
			want["row.response.usage.total_tokens > 2500"] += 2
		}
		if row.Response.Usage.Total_tokens > 4500 {
			want["row.response.usage.total_tokens > 4500"] += 2
		}
	}
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			h := guest(t, form)
			h.open(files[:1], 1<<20)
			h.addPacked(files, 1)
			h.audit(files)
			asked := 0
			for _, filter := range []string{"row.response.usage.total_tokens > 2500", "row.response.usage.total_tokens > 4500"} {
				request := map[string]any{"op": "render", "fresh": true, "fragment": "#tab=rollouts&filter=" + strings.ReplaceAll(filter, " ", "+")}
				for round := range 3 {
					d := h.draw(request)
					if d.Query == nil {
						if got := d.stat("filter.count"); got != fmt.Sprint(want[filter]) || d.Phase != "ready" {
							t.Errorf("%s: %s rows, want %d of %d; phase %s", filter, got, want[filter], 2*rows, d.Phase)
						}
						break
					}
					if d.Phase != "scanning" || round == 2 {
						t.Fatalf("%s: phase %s in round %d: %+v", filter, d.Phase, round, d.Query)
					}
					asked++
					h.ask(d.Query, files, 30_000)
				}
			}
			if asked != 1 {
				t.Errorf("%d second scans", asked)
			}
			for name, query := range map[string]string{
				"another question": `{"id":"1","filter":"row.a=1"}`, "no question": `{"id":"1","filter":"masked"}`, "no filter": `{"id":"1","filter":"("}`,
			} {
				if _, err := h.call(engine.OpScan, fmt.Appendf(nil, `{"source":0,"from":0,"to":1,"query":%s}`, query)); err == nil {
					t.Errorf("%s is scanned for", name)
				}
			}
		})
	}
	if want["row.response.usage.total_tokens > 4500"] == 0 || slices.Contains([]int{0, 2 * rows}, want["row.response.usage.total_tokens > 2500"]) {
		t.Errorf("the filters say nothing: %v of %d", want, 2*rows)
	}
}

// addPacked drops one more file, which is packed, and scans it.
func (h *host) addPacked(files []input, n int) {
	h.t.Helper()
	answer, err := h.desk(map[string]any{"op": "open", "add": true, "files": files[n : n+1]})
	if err != nil {
		h.t.Fatal(err)
	}
	if want := fmt.Sprintf(`{"scan":[{"source":%d,"file":%d,"size":%d,"packed":true}]}`, n, n, files[n].Size); string(answer) != want {
		h.t.Fatalf("%s, want %s", answer, want)
	}
	h.must(engine.OpScan, fmt.Appendf(nil, `{"source":%d,"from":0,"to":-1,"packed":true}`, n))
	h.feed(files[n].data)
	h.add(h.must(engine.OpFinish, nil))
}
