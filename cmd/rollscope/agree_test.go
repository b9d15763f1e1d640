package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/wasm/engine"
)

var agreeOn = flag.String("agree", "", "hold page and command against each other on the rollouts files below this directory instead of the test data")

// agreeFilters are filters of every kind, each with a sort.
var agreeFilters = [...]struct{ filter, sort string }{
	{"", ""}, {"", "-reward"}, {"", "task"}, {"", "-findings"}, {"", "name"},
	{"verdict:unhealthy", "-completion"},
	{"not verdict:healthy", ""},
	{"check:model_call_failed", ""},
	{"check in (agent_turn_hollow, task_consistently_unhealthy)", "repeat"},
	{"has(unjudged) or findings>1", ""},
	{"reward=0", "place"}, {"0 < reward <= 1 and not masked", ""}, {"reward!=1", "-turns"}, {"not has(reward)", ""},
	{"prompt > completion", "prompt"}, {"turns in (1, 2)", ""}, {"calls>=2 or failed>0", "-failed"},
	{"task=0", ""}, {`task="0"`, ""}, {"task.repeats>1 task.solved=0", "-task"}, {"repeat<2", ""},
	{"name ~ a", ""}, {"agent !~ agent", "agent"}, {"unreadable or repaired", ""}, {"line in (1, 3, 5)", "-bytes"}, {"bytes>2000 and line>1", "bytes"},
	{"row.response.usage.total_tokens > 100", "-reward"},
	{"has(row.ng_trajectory) and not has(row.ng_perf)", ""},
	{"row.response.output[0].type:message", "verdict"},
	{"$.responses_create_params.input ~ a or row.reward = row.reward", ""},
	{`row["_ng_rollout_index"]=0 or row.mask_sample`, "-place"},
	{"row.ng_trajectory.turns[0].turn_no <= 1 verdict:unhealthy", ""},
	{"count(turns) > 1 or any(messages, text ~ e)", ""},
	{"count(tool_calls) > 0 and not any(calls, has(error))", "calls"},
}

// TestPageAgrees opens every rollouts file as the page does and lists the rows of every filter: they are those of the
// command rows, in the same order.
func TestPageAgrees(t *testing.T) {
	root, few := "../../testdata", int64(1<<20) // large files of the test data repeat what small ones have
	if *agreeOn != "" {
		root, few = *agreeOn, 1<<40
	}
	var paths []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if l := runfolder.Sort([]runfolder.File{{Path: e.Name(), Size: info.Size()}}); len(l.Rollouts()) == 1 && info.Size() <= few {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	files, compared, rows, inside := 0, 0, 0, 0
	for _, path := range paths {
		h := &host{out: io.Discard, err: io.Discard, env: func(string) string { return "" }, cpus: 1}
		j, err := h.judge(t.Context(), []string{path}, judging{workers: 1})
		if err != nil {
			continue // refused as a whole: the page says so and has no report either
		}
		files++
		p := openPage(t, path)
		for _, f := range agreeFilters {
			question, err := view.Ask(f.filter)
			if err != nil {
				t.Fatalf("%s: %v", f.filter, err)
			}
			answers, err := h.ask(t.Context(), j, question, 1)
			if err != nil {
				t.Fatalf("%s: %s: %v", path, f.filter, err)
			}
			found, err := view.Search(j.table, j.report, f.filter, f.sort, answers)
			if err != nil {
				t.Fatalf("%s: %s: %v", path, f.filter, err)
			}
			want := []string{}
			for _, ordinal := range found {
				row, _ := j.table.Row(ordinal)
				want = append(want, fmt.Sprintf("%s:%d", filepath.Base(path), row.Line))
			}
			if have := p.rows(t, f.filter, f.sort); !slices.Equal(have, want) {
				t.Errorf("%s: %q sorted by %q: the page has %d rows %.200q, the command %d %.200q", path, f.filter, f.sort, len(have), have, len(want), want)
			}
			compared++
			rows += len(want)
			if question != nil {
				inside++
			}
		}
		j.close()
	}
	t.Logf("%d files of %d, %d comparisons, %d of them read inside rows, %d rows listed", files, len(paths), compared, inside, rows)
	if files < 20 && *agreeOn == "" || compared == 0 {
		t.Errorf("only %d files were compared", files)
	}
}

// A pageOf is the engine behind a page that has one file.
type pageOf struct {
	engine engine.Engine
	name   string
	file   []byte
}

// openPage does what the page does with a file that is dropped on it.
func openPage(t *testing.T, path string) *pageOf {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &pageOf{name: filepath.Base(path), file: file}
	var opened struct{ Scan []scanTask }
	p.call(t, map[string]any{"op": "open", "files": []any{map[string]any{"path": p.name, "size": len(file)}}}, &opened)
	for _, task := range opened.Scan {
		task.To = int64(len(file))
		if task.Packed {
			task.To = -1
		}
		p.scan(t, task, nil)
	}
	return p
}

// A scanTask is a range that the engine wants to be scanned.
type scanTask struct {
	Source, File int
	From, To     int64
	Packed       bool
}

func (p *pageOf) call(t *testing.T, request map[string]any, answer any) {
	t.Helper()
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	out, needs, err := p.engine.Call(engine.OpCall, text)
	if err == nil && needs {
		err = fmt.Errorf("it needs %s", out)
	}
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", p.name, text, err)
	}
}

// scan reads a range in small pieces and hands over what comes of it.
func (p *pageOf) scan(t *testing.T, task scanTask, query map[string]string) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatalf("%s: scan: %v", p.name, err)
		}
	}
	text, err := json.Marshal(map[string]any{"source": task.Source, "from": task.From, "to": task.To, "packed": task.Packed, "query": query})
	fail(err)
	begun, _, err := p.engine.Call(engine.OpScan, text)
	fail(err)
	var at struct{ Next int64 }
	fail(json.Unmarshal(begun, &at))
	done := false
	for piece := range slices.Chunk(p.file[at.Next:], 64<<10) {
		if done, err = p.engine.Feed(piece); err != nil || done {
			break
		}
	}
	fail(err)
	op := engine.OpFinish
	if done {
		op = engine.OpTake
	}
	partial, _, err := p.engine.Call(op, nil)
	fail(err)
	if len(partial) > 0 {
		_, _, err = p.engine.Call(engine.OpAdd, bytes.Clone(partial))
		fail(err)
	}
}

// rows lists the places of a filter's rows, as the page copies them, after the second scan that it asks for.
func (p *pageOf) rows(t *testing.T, filter, sort string) []string {
	t.Helper()
	fragment := "tab=rollouts&columns=place&filter=" + url.QueryEscape(filter) + "&sort=" + sort
	for range 3 {
		var drawn struct {
			Query *struct {
				ID, Filter, Probe string
				Scan              []scanTask
			}
		}
		p.call(t, map[string]any{"op": "render", "fragment": fragment}, &drawn)
		if drawn.Query == nil {
			break
		}
		for _, task := range drawn.Query.Scan {
			p.scan(t, task, map[string]string{"id": drawn.Query.ID, "filter": drawn.Query.Filter, "probe": drawn.Query.Probe})
		}
	}
	list := []string{}
	for from := 0; ; {
		var part struct {
			Text string
			Next int
			Done bool
		}
		p.call(t, map[string]any{"op": "export", "fragment": fragment, "table": "rollouts", "form": "tsv", "from": from}, &part)
		lines := strings.Split(strings.TrimSuffix(part.Text, "\n"), "\n")
		if from == 0 {
			lines = lines[1:] // the head
		}
		for _, line := range lines {
			if line != "" {
				list = append(list, line)
			}
		}
		if part.Done {
			return list
		}
		from = part.Next
	}
}
