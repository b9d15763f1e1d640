package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/wasm/engine"
	"github.com/rollscope/rollscope/wasm/gojs"
)

// The page's module is built once and runs in both forms through one harness.
var (
	forms = []string{"js", "wasip1"}
	once  sync.Map
)

type built struct {
	sync.Once
	start func(ctx context.Context) (gojs.Guest, error)
	err   error
}

// guest starts a fresh instance of the module in one of its forms.
func guest(t *testing.T, form string) *host {
	t.Helper()
	entry, _ := once.LoadOrStore(form, new(built))
	b := entry.(*built)
	b.Do(func() { b.start, b.err = build(form) })
	if b.err != nil {
		t.Fatal(b.err)
	}
	g, err := b.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	h := &host{t: t, Guest: g}
	if v := h.number("version"); v != engine.Protocol {
		t.Fatalf("the module speaks protocol %d", v)
	}
	return h
}

func build(form string) (func(context.Context) (gojs.Guest, error), error) {
	dir, err := os.MkdirTemp("", "rollscope-wasm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "module.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", path}
	if form == "wasip1" {
		args = append(args, "-buildmode=c-shared")
	}
	command := exec.Command("go", append(args, ".")...)
	command.Env = append(os.Environ(), "GOOS="+form, "GOARCH=wasm")
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the module for %s: %w\n%s", form, err, out)
	}
	wasm, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	if form == "js" {
		m, err := gojs.Compile(ctx, rt, wasm)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (gojs.Guest, error) { return m.Start(ctx, gojs.Config{Stderr: os.Stderr}) }, nil
	}
	m, err := gojs.CompileReactor(ctx, rt, wasm)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (gojs.Guest, error) { return m.Start(ctx, gojs.Config{Stderr: os.Stderr}) }, nil
}

// host does what the page's worker does.
type host struct {
	gojs.Guest
	t *testing.T
}

func (h *host) number(name string, args ...int32) int32 {
	h.t.Helper()
	n, err := h.CallInt32(h.t.Context(), name, args...)
	if err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (h *host) put(b []byte) {
	h.t.Helper()
	if err := h.WriteMemory(uint32(h.number("buf", int32(len(b)))), b); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) out() []byte {
	h.t.Helper()
	b, err := h.ReadMemory(uint32(h.number("out")), uint32(h.number("outlen")))
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

var errNeeds = errors.New("the module needs bytes first")

func (h *host) call(op int32, request []byte) ([]byte, error) {
	h.t.Helper()
	h.put(request)
	switch h.number("call", op, int32(len(request))) {
	case 0:
		return h.out(), nil
	case 1:
		return h.out(), errNeeds
	}
	return nil, errors.New(string(h.out()))
}

func (h *host) must(op int32, request []byte) []byte {
	h.t.Helper()
	b, err := h.call(op, request)
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (h *host) desk(request map[string]any) ([]byte, error) {
	h.t.Helper()
	b, err := json.Marshal(request)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.call(engine.OpCall, b)
}

type input struct {
	Path string `json:"path"`
	Size int    `json:"size"`
	data []byte
}

// open drops files and scans them in ranges, as the page does.
func (h *host) open(files []input, piece int) {
	h.t.Helper()
	answer, err := h.desk(map[string]any{"op": "open", "files": files})
	if err != nil {
		h.t.Fatal(err)
	}
	var opened struct {
		Scan []struct{ Source, File, Size int }
	}
	if err := json.Unmarshal(answer, &opened); err != nil {
		h.t.Fatal(err)
	}
	for _, s := range opened.Scan {
		data := files[s.File].data
		for from := 0; from < s.Size; from += piece {
			h.scan(s.Source, data, from, min(from+piece, s.Size))
		}
	}
}

func (h *host) scan(source int, data []byte, from, to int) {
	h.t.Helper()
	answer := h.must(engine.OpScan, fmt.Appendf(nil, `{"source":%d,"from":%d,"to":%d}`, source, from, to))
	var begun struct{ Next int }
	if err := json.Unmarshal(answer, &begun); err != nil {
		h.t.Fatal(err)
	}
	for at, done := begun.Next, false; !done && at < len(data); {
		b := data[at:min(at+100_000, len(data))]
		h.put(b)
		status := h.number("feed", int32(len(b)))
		if status < 0 {
			h.t.Fatal(string(h.out()))
		}
		done = status == 1
		at += len(b)
	}
	if p := h.must(engine.OpFinish, nil); len(p) > 0 {
		h.must(engine.OpAdd, p)
	}
}

func (h *host) report(name, fragment string) ([]byte, error) {
	return h.desk(map[string]any{"op": "download", "name": name, "fragment": fragment})
}

// TestGolden runs every health case through the module: the reports it offers are those of the reference.
func TestGolden(t *testing.T) {
	const root = "../testdata/health"
	cases, err := filepath.Glob(root + "/*/case.json")
	if err != nil || len(cases) < 50 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			steps := 0
			for _, path := range cases {
				dir := filepath.Dir(path)
				var c struct {
					Steps []struct {
						Files    []string
						Ignored  []string
						Expected string
					}
				}
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(b, &c); err != nil {
					t.Fatal(path, err)
				}
				if form == "wasip1" && !strings.HasPrefix(filepath.Base(dir), "s0") {
					continue // the second form is a cross-check of the first, not a second product
				}
				h := guest(t, form)
				for _, step := range c.Steps {
					steps++
					checkStep(t, h, dir, step.Files, step.Ignored, filepath.Join(dir, "expected", step.Expected))
				}
			}
			t.Logf("%d steps", steps)
		})
	}
}

func checkStep(t *testing.T, h *host, dir string, files, ignored []string, expected string) {
	t.Helper()
	var list []input
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, "input", name))
		if err != nil {
			return // the case of a file that is not there is the command's
		}
		list = append(list, input{Path: name, Size: len(data), data: data})
	}
	// A file beside the folders keeps their names: what all files share would be left out of them.
	list = append(list, input{Path: "notes.txt"})
	h.open(list, 40_000)
	fragment := "order=" + strings.Join(files, ",")
	if len(ignored) > 0 {
		fragment += "&ignore=" + strings.Join(ignored, ",")
	}
	refused := false
	if _, err := os.Stat(filepath.Join(expected, "health_error.json")); err == nil {
		refused = true
	}
	for _, name := range []string{"quality_summary.json", "rollout_verdicts.jsonl"} {
		got, err := h.report(name, fragment)
		if refused {
			if err == nil {
				t.Errorf("%s: a report of a refused run", expected)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", expected, err)
			continue
		}
		want, err := os.ReadFile(filepath.Join(expected, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s differs", expected, name)
		}
	}
}

// TestMutants changes bytes of a few thousand rows and wants the same reports from the module and natively.
func TestMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var base []byte
	for _, f := range synth.Sample() {
		base = append(base, f.Data...)
	}
	more, err := filepath.Glob("../testdata/health/s*/input/rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range more {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		base = append(append(base, b...), '\n')
	}
	rows := bytes.Split(base, []byte("\n"))
	spice := []string{"null", "true", "[]", "{}", `""`, "-1", "1e999", `"\ud800"`, "0", "\xff", "\x00", ",", "}", `"nan"`, "18446744073709551615", "\r"}
	mutate := func() []byte {
		var file []byte
		for range 400 {
			row := bytes.Clone(rows[rng.IntN(len(rows))])
			for range rng.IntN(4) {
				if len(row) == 0 {
					break
				}
				at := rng.IntN(len(row))
				switch rng.IntN(4) {
				case 0:
					row[at] = byte(rng.IntN(256))
				case 1:
					row = append(row[:at:at], row[min(at+1+rng.IntN(20), len(row)):]...)
				case 2:
					row = append(append(row[:at:at], spice[rng.IntN(len(spice))]...), row[at:]...)
				case 3:
					// A whole value becomes another one.
					if colon := bytes.IndexByte(row[at:], ':'); colon >= 0 {
						from := at + colon + 1
						to := from + max(bytes.IndexAny(row[from:], ",}]"), 0)
						row = append(append(row[:from:from], spice[rng.IntN(len(spice))]...), row[to:]...)
					}
				}
			}
			file = append(append(file, row...), '\n')
		}
		return file
	}
	h := guest(t, "js")
	same := 0
	for range 10 {
		file := mutate()
		name := "mutants.jsonl"
		h.open([]input{{Path: name, Size: len(file), data: file}}, 1<<20)
		var native engine.Engine
		feed(t, &native, name, file)
		for _, report := range []string{"quality_summary.json", "rollout_verdicts.jsonl"} {
			request, _ := json.Marshal(map[string]any{"op": "download", "name": report})
			want, _, wantErr := native.Call(engine.OpCall, request)
			got, gotErr := h.report(report, "")
			if (wantErr == nil) != (gotErr == nil) || !bytes.Equal(got, want) {
				t.Fatalf("%s: native %v, module %v, equal %t", report, wantErr, gotErr, bytes.Equal(got, want))
			}
			if wantErr == nil {
				same++
			}
		}
	}
	t.Logf("%d reports of 4,000 rows compared", same)
}

// feed drops one file on an engine in this process.
func feed(t *testing.T, e *engine.Engine, name string, file []byte) {
	t.Helper()
	request, _ := json.Marshal(map[string]any{"op": "open", "files": []input{{Path: name, Size: len(file)}}})
	steps := []struct {
		op int
		in []byte
	}{
		{engine.OpCall, request},
		{engine.OpScan, fmt.Appendf(nil, `{"source":0,"from":0,"to":%d}`, len(file))},
	}
	for _, s := range steps {
		if _, _, err := e.Call(s.op, s.in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Feed(file); err != nil {
		t.Fatal(err)
	}
	partial, _, err := e.Call(engine.OpFinish, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Call(engine.OpAdd, partial); err != nil {
		t.Fatal(err)
	}
}

// TestBoundary misuses the exports: every misuse is a failure with words, and the instance goes on.
func TestBoundary(t *testing.T) {
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			h := guest(t, form)
			if status := h.number("feed", 1); status != -1 {
				t.Errorf("a feed without a scan gives %d", status)
			}
			for name, request := range map[string][]byte{
				"no json": []byte("{"), "no operation": []byte("{}"), "no such operation": []byte(`{"op":"dance"}`),
				"no files": []byte(`{"op":"download","name":"quality_summary.json"}`),
			} {
				if _, err := h.call(engine.OpCall, request); err == nil {
					t.Errorf("%s: no failure", name)
				}
			}
			for _, bad := range []struct {
				op int32
				in string
			}{
				{99, ""}, {0, ""}, {-1, ""}, {engine.OpScan, `{"source":-1}`}, {engine.OpScan, `{"from":5,"to":1}`},
				{engine.OpAdd, "rsp\x01\xff\xff\xff\xff"}, {engine.OpAdd, ""}, {engine.OpBytes, "no line end"}, {engine.OpTake, ""},
			} {
				if _, err := h.call(bad.op, []byte(bad.in)); err == nil {
					t.Errorf("operation %d with %q: no failure", bad.op, bad.in)
				}
			}
			h.put([]byte("x"))
			if status := h.number("call", engine.OpCall, 1000); status != -1 {
				t.Errorf("a call beyond the buffer gives %d", status)
			}
			data := []byte("{}\n")
			h.open([]input{{Path: "a.jsonl", Size: len(data), data: data}}, 1<<20)
			if _, err := h.report("quality_summary.json", ""); err != nil {
				t.Error(err)
			}
			if _, exited := h.ExitCode(); exited {
				t.Error("the module has exited")
			}
		})
	}
}

// TestPages renders every page of the sample in the module and natively: the same bytes.
func TestPages(t *testing.T) {
	h := guest(t, "js")
	sample := synth.Sample()[0]
	h.open([]input{{Path: sample.Name, Size: len(sample.Data), data: sample.Data}}, 1<<20)
	var native engine.Engine
	feed(t, &native, sample.Name, sample.Data)
	for _, fragment := range []string{
		"", "#tab=rollouts", "#tab=rollouts&sort=-calls", "#tab=tasks", "#tab=files", "#tab=health", "#tab=health&check=model_call_failed",
		"#tab=health&profile=main&ignore=record_unreadable", "#tab=rollouts&filter=verdict:unhealthy", "#rollout=rollouts.jsonl:7",
		"#rollout=rollouts.jsonl:6", "#rollout=rollouts.jsonl:7&part=raw", "#rollout=absent:1", "#filter=((", "#ignore=nonsense",
	} {
		request, _ := json.Marshal(map[string]any{"op": "render", "fragment": fragment, "fresh": true})
		for range 3 {
			want, needs, err := native.Call(engine.OpCall, request)
			if err != nil {
				t.Fatal(fragment, err)
			}
			got, err := h.call(engine.OpCall, request)
			if needs != errors.Is(err, errNeeds) || !bytes.Equal(got, want) {
				t.Fatalf("%s: %v, native and module give other answers", fragment, err)
			}
			if !needs {
				break
			}
			var n struct {
				Need []struct{ File, Offset, Length int }
			}
			if err := json.Unmarshal(want, &n); err != nil {
				t.Fatal(err)
			}
			for _, n := range n.Need {
				head := fmt.Appendf(nil, `{"file":%d,"offset":%d,"length":%d}`+"\n", n.File, n.Offset, n.Length)
				supply := append(head, sample.Data[n.Offset:n.Offset+n.Length]...)
				h.must(engine.OpBytes, supply)
				if _, _, err := native.Call(engine.OpBytes, supply); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := health.NormalizeIgnored([]string{"nonsense"}); err == nil {
		t.Error("an unknown check is accepted")
	}
}
