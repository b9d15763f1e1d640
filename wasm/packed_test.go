package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/wasm/engine"
)

// zip packs a file in members that begin at the given places.
func zip(t *testing.T, data []byte, cuts ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	from := 0
	for _, to := range append(cuts, len(data)) {
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data[from:to]); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	return b.Bytes()
}

// openPacked drops packed files and scans them as the page does, in pieces, taking what is there after some.
func (h *host) openPacked(files []input, piece int) {
	h.t.Helper()
	answer, err := h.desk(map[string]any{"op": "open", "files": files})
	if err != nil {
		h.t.Fatal(err)
	}
	var opened struct {
		Scan []struct {
			Source, File, Size int
			Packed             bool
		}
	}
	if err := json.Unmarshal(answer, &opened); err != nil {
		h.t.Fatal(err)
	}
	for _, s := range opened.Scan {
		if !s.Packed {
			h.t.Fatalf("%s is not packed", files[s.File].Path)
		}
		h.must(engine.OpScan, fmt.Appendf(nil, `{"source":%d,"from":0,"to":-1,"packed":true}`, s.Source))
		data := files[s.File].data
		for at := 0; at < len(data); at += piece {
			h.feed(data[at:min(at+piece, len(data))])
			if at/piece%3 == 0 {
				h.add(h.must(engine.OpTake, nil))
			}
		}
		h.add(h.must(engine.OpFinish, nil))
	}
}

func (h *host) feed(b []byte) (done bool) {
	h.t.Helper()
	h.put(b)
	status := h.number("feed", int32(len(b)))
	if status < 0 {
		h.t.Fatal(string(h.out()))
	}
	return status == 1
}

func (h *host) add(partial []byte) {
	h.t.Helper()
	if len(partial) > 0 {
		h.must(engine.OpAdd, partial)
	}
}

// render draws a page and supplies what it needs out of packed files.
func (h *host) render(fragment string, files []input, piece int) string {
	h.t.Helper()
	request := map[string]any{"op": "render", "fragment": fragment, "fresh": true}
	answer, err := h.desk(request)
	for round := 0; errors.Is(err, errNeeds); round++ {
		if round == 4 {
			h.t.Fatalf("%s: the same bytes are asked for again and again", fragment)
		}
		var n struct {
			Need []struct {
				File, Offset, Length int
				Packed               bool
			}
		}
		if err := json.Unmarshal(answer, &n); err != nil {
			h.t.Fatal(err)
		}
		for _, need := range n.Need {
			if !need.Packed {
				h.t.Fatalf("%+v is not said to be packed", need)
			}
			h.unpack(files[need.File].data, fmt.Appendf(nil, `{"file":%d,"offset":%d,"length":%d}`, need.File, need.Offset, need.Length), piece)
		}
		answer, err = h.desk(request)
	}
	if err != nil {
		h.t.Fatal(fragment, err)
	}
	var page struct{ Regions map[string]string }
	if err := json.Unmarshal(answer, &page); err != nil {
		h.t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range []string{"alerts", "main", "foot", "stats"} {
		all.WriteString(page.Regions[name])
	}
	return all.String()
}

// unpack answers a need and tells how many bytes of the packed file it took.
func (h *host) unpack(data, need []byte, piece int) (fed int) {
	h.t.Helper()
	var begun struct {
		Next int
		Done bool
	}
	if err := json.Unmarshal(h.must(engine.OpSlice, need), &begun); err != nil {
		h.t.Fatal(err)
	}
	for at := begun.Next; !begun.Done && at < len(data); at += piece {
		b := data[at:min(at+piece, len(data))]
		begun.Done = h.feed(b)
		fed += len(b)
	}
	if !begun.Done {
		h.must(engine.OpFinish, nil)
	}
	return fed
}

// TestPacked gives rows packed in many ways to the module: the reports are those of the plain file, and any row is
// found again.
func TestPacked(t *testing.T) {
	sample := synth.Sample()[0]
	plain := guest(t, "js")
	plain.open([]input{{Path: "a.jsonl", Size: len(sample.Data), data: sample.Data}}, 1<<20)
	n := len(sample.Data)
	for _, form := range forms {
		h := guest(t, form)
		for name, data := range map[string][]byte{
			"one":    zip(t, sample.Data),
			"many":   zip(t, sample.Data, 0, n/5, n/5, n/2, n/2+1),
			"padded": append(zip(t, sample.Data, n/3), make([]byte, 3000)...),
			"plain":  sample.Data, // unpacked by a browser on its way to the disk
		} {
			if form == "wasip1" && name != "many" {
				continue // a cross-check
			}
			t.Run(form+"/"+name, func(t *testing.T) {
				h.t, plain.t = t, t
				files := []input{{Path: "a.jsonl.gz", Size: len(data), data: data}}
				h.openPacked(files, 10_000)
				for _, report := range []string{"quality_summary.json", "rollout_verdicts.jsonl"} {
					want, err := plain.report(report, "")
					if err != nil {
						t.Fatal(err)
					}
					got, err := h.report(report, "")
					if err != nil {
						t.Fatal(err)
					}
					if got = bytes.ReplaceAll(got, []byte("a.jsonl.gz"), []byte("a.jsonl")); !bytes.Equal(got, want) {
						t.Errorf("%s differs", report)
					}
				}
				for _, line := range []int{7, 8, 3, 1, 20} {
					page := h.render(fmt.Sprintf("#rollout=a.jsonl.gz:%d&part=raw", line), files, 5_000)
					if strings.Contains(page, `data-code="vanished"`) || !strings.Contains(page, "responses_create_params") {
						t.Errorf("the row on line %d is not shown: %.300s", line, page)
					}
				}
			})
		}
	}
}

// TestSliceGoesOn reads rows in order: what is in front of the last one is not unpacked again.
func TestSliceGoesOn(t *testing.T) {
	sample := synth.Sample()[0]
	data := zip(t, sample.Data)
	h := guest(t, "js")
	files := []input{{Path: "a.jsonl.gz", Size: len(data), data: data}}
	h.openPacked(files, 1<<20)
	offset, fed := 0, 0
	for line := range bytes.Lines(sample.Data) {
		fed += h.unpack(data, fmt.Appendf(nil, `{"file":0,"offset":%d,"length":%d}`, offset, len(line)-1), 100)
		offset += len(line)
	}
	// A piece that is left in its middle is given again.
	if lines := bytes.Count(sample.Data, []byte("\n")); fed > len(data)+100*(lines+1) {
		t.Errorf("%d bytes were fed of a file of %d", fed, len(data))
	}
	for name, need := range map[string]string{
		"of no file": `{"file":7,"offset":0,"length":1}`, "negative": `{"file":0,"offset":-1,"length":1}`, "no json": `{`,
	} {
		if _, err := h.call(engine.OpSlice, []byte(need)); err == nil {
			t.Errorf("a slice %s is no failure", name)
		}
	}
	// Nothing, and more than there is.
	h.unpack(data, []byte(`{"file":0,"offset":5,"length":0}`), 1000)
	h.unpack(data, fmt.Appendf(nil, `{"file":0,"offset":%d,"length":10}`, len(sample.Data)-5), 1000)
	if page := h.render("#rollout=a.jsonl.gz:1&part=raw", files, 5_000); strings.Contains(page, `data-code="vanished"`) {
		t.Error("the first row is not shown after a read behind the end")
	}
	if _, exited := h.ExitCode(); exited {
		t.Error("the module has exited")
	}
}

// TestPackedCases drops the cases of packed files, whole and damaged.
func TestPackedCases(t *testing.T) {
	h := guest(t, "js")
	load := func(path string) []byte {
		data, err := os.ReadFile("../testdata/cases/" + path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	stat := func(page, name, want string) {
		t.Helper()
		if !strings.Contains(page, fmt.Sprintf(`data-stat="%s" data-value="%s"`, name, want)) {
			t.Errorf("%s is not %s", name, want)
		}
	}
	members, padded := load("28-gzip-members/rollouts.jsonl.gz"), load("28-gzip-members/padded.jsonl.gz")
	files := []input{{Path: "padded.jsonl.gz", Size: len(padded), data: padded}, {Path: "rollouts.jsonl.gz", Size: len(members), data: members}}
	h.openPacked(files, 7)
	page := h.render("#tab=files", files, 100)
	stat(page, "rollout.count", "5")
	stat(page, "accounting.read", "5")
	if strings.Contains(page, `role="alert"`) {
		t.Errorf("there are messages: %.500s", page)
	}
	if !strings.Contains(page, "1,182 packed") {
		t.Error("the packed size is not shown")
	}

	long := load("27-very-long-line/rollouts.jsonl.gz")
	files = []input{{Path: "rollouts.jsonl.gz", Size: len(long), data: long}}
	h.openPacked(files, 1<<20)
	page = h.render("#tab=rollouts", files, 1<<20)
	stat(page, "accounting.read", "3")
	if len(page) > 1<<20 {
		t.Errorf("a page of %d bytes", len(page))
	}
	page = h.render("#rollout=rollouts.jsonl.gz:2&part=raw", files, 1<<20)
	if len(page) > 1<<20 || !strings.Contains(page, "responses_create_params") {
		t.Errorf("the long row is a page of %d bytes", len(page))
	}

	cut := members[:len(members)-40]
	files = []input{{Path: "rollouts.jsonl.gz", Size: len(cut), data: cut}}
	h.openPacked(files, 1000)
	page = h.render("#tab=overview", files, 1000)
	if !strings.Contains(page, `data-code="torn_tail"`) || !strings.Contains(page, fmt.Sprintf("byte %d of the packed file", len(cut))) {
		t.Errorf("the damage is not told: %.1000s", page)
	}
	stat(page, "accounting.read", "3")
}
