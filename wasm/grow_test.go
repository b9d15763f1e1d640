package main_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/rollscope/rollscope/wasm/engine"
)

// shown is the markup of the pages of a run, every answer that a tab asks for included.
func (h *host) shown(files []input, fragment string) map[string]string {
	h.t.Helper()
	for range 20 {
		var page struct {
			Phase   string
			Regions map[string]string
			Query   *struct {
				ID, Filter, Probe string
				Scan              []struct{ Source, File, From, To int }
			}
		}
		if err := json.Unmarshal(h.answer(files, map[string]any{"op": "render", "fragment": fragment, "fresh": true}), &page); err != nil {
			h.t.Fatal(err)
		}
		if page.Query == nil {
			if page.Phase != "ready" {
				h.t.Fatalf("%s is %s", fragment, page.Phase)
			}
			return page.Regions
		}
		for _, s := range page.Query.Scan {
			request, err := json.Marshal(map[string]any{"source": s.Source, "from": s.From, "to": s.To,
				"query": map[string]string{"id": page.Query.ID, "filter": page.Query.Filter, "probe": page.Query.Probe}})
			if err != nil {
				h.t.Fatal(err)
			}
			h.ranged(request, files[s.File].data)
		}
	}
	h.t.Fatalf("%s asks more and more", fragment)
	return nil
}

// ranged runs the scan of a request.
func (h *host) ranged(request, data []byte) {
	h.t.Helper()
	var begun struct{ Next int }
	if err := json.Unmarshal(h.must(engine.OpScan, request), &begun); err != nil {
		h.t.Fatal(err)
	}
	if b := data[begun.Next:]; len(b) > 0 {
		h.put(b)
		if h.number("feed", int32(len(b))) < 0 {
			h.t.Fatal(string(h.out()))
		}
	}
	if p := h.must(engine.OpFinish, nil); len(p) > 0 {
		h.must(engine.OpAdd, p)
	}
}

// finished repeats an operation until it says that it is done.
func (h *host) finished(files []input, op string) {
	h.t.Helper()
	for range 1000 {
		var done struct{ Done bool }
		if err := json.Unmarshal(h.answer(files, map[string]any{"op": op}), &done); err != nil {
			h.t.Fatal(err)
		}
		if done.Done {
			return
		}
	}
	h.t.Fatalf("%s is never done", op)
}

// TestGrow has the module follow runs that grow in steps, cut anywhere, and wants the pages that come of opening the
// files as they are then.
func TestGrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for _, name := range []string{"01-sound", "12-torn-tails", "16-reservations", "23-omissions"} {
		paths, err := filepath.Glob("../testdata/runs/" + name + "/run/*")
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		var whole, now []input
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			whole = append(whole, input{Path: filepath.Base(path), Size: len(b), data: b})
			at := rng.IntN(len(b) + 1)
			now = append(now, input{Path: filepath.Base(path), Size: at, data: b[:at]})
		}
		h := guest(t, "js")
		h.open(now, 500)
		h.finished(now, "audit")
		for step := range 3 {
			fresh := &host{t: t, Guest: new(native)}
			fresh.open(now, 1<<20)
			fresh.finished(now, "audit")
			for _, fragment := range []string{"#tab=overview", "#tab=rollouts", "#tab=coverage", "#tab=files", "#tab=harness", "#tab=rollouts&filter=row._ng_task_index%3E0"} {
				got, want := h.shown(now, fragment), fresh.shown(now, fragment)
				for region, markup := range want {
					if got[region] != markup {
						t.Errorf("%s, step %d, %s: the region %s is another than of files that are opened", name, step, fragment, region)
					}
				}
			}
			type change struct {
				File int  `json:"file"`
				Size int  `json:"size"`
				Anew bool `json:"anew"`
			}
			var changes []change
			for i, f := range whole {
				at := now[i].Size + rng.IntN(f.Size-now[i].Size+1)
				if step == 1 {
					at = f.Size
				}
				if at == now[i].Size && rng.IntN(2) == 0 {
					continue
				}
				now[i].Size, now[i].data = at, f.data[:at]
				changes = append(changes, change{i, at, false})
			}
			answer, err := h.desk(map[string]any{"op": "grow", "changes": changes})
			if err != nil {
				t.Fatal(err)
			}
			var begun struct {
				Scan []struct{ Source, File, From, To int }
				Anew []int
			}
			if err := json.Unmarshal(answer, &begun); err != nil || len(begun.Anew) > 0 {
				t.Fatal(err, begun.Anew)
			}
			for _, s := range begun.Scan {
				for from := s.From; from < s.To; from += 700 {
					h.scan(s.Source, now[s.File].data, from, min(from+700, s.To))
				}
			}
			h.finished(now, "grown")
			if _, err := h.desk(map[string]any{"op": "step", "fragment": "#tab=rollouts"}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
