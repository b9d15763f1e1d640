package view

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/view/filter"
)

// rowsFile makes rows with short and long values of every kind, blank lines and damaged ones.
func rowsFile(rng *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch rng.IntN(12) {
		case 0:
			b.WriteString(" \n")
			continue
		case 1:
			b.WriteString("{\"x\":NaN}\n")
			continue
		}
		text := strings.Repeat("words ", rng.IntN(4)*40)
		list := slices.Repeat([]string{`1`, `"a"`, `null`}, rng.IntN(3)*60)
		var items []string
		for range rng.IntN(4) {
			items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"%s","arguments":"{}"},{"type":"function_call_output","call_id":"c0","output":"done %d"}`,
				rng.IntN(3), []string{"bash", "edit"}[rng.IntN(2)], rng.IntN(3)))
		}
		fmt.Fprintf(&b, `{"response":{"output":[%s]},"_ng_task_index":%d,"reward":%d,"n":%d,"text":"%sneedle%d","list":[%s],"deep":{"odd key":[{"v":%t}]},"same":%d}`+"\n",
			strings.Join(items, ","), i, rng.IntN(2), rng.IntN(100), text, rng.IntN(3), strings.Join(append(list, fmt.Sprint(rng.IntN(9))), ","), rng.IntN(2) == 0, i+rng.IntN(2))
	}
	return b.Bytes()
}

var questions = []string{
	"row.n > 50",
	"row.n > 50 reward=1",
	"reward=0 or row.n < 10",
	"row.text ~ needle1",
	"not row.text contains needle2",
	"row.list : 5",
	"row.list in (7, b)",
	`row.deep["odd key"][0].v : true`,
	"has(row.absent) or row.n=3",
	"row.same = task",
	"row.list = reward and row.text ~ needle",
	"20 <= row.n < 40 unreadable=false",
	"not has(row.n)",
	"row.text > x or row.n : 7",
	"row.x = row.n",
	"any(tool_calls, name:bash)",
	"count(tool_calls, name:bash) > 1 or count(row.list, item=1) > 30",
	"not all(tool_calls, answered) reward=1",
	"count(tool_calls) + reward >= 2 row.text matches 'needle[01]$'",
	"any(turns, tools > 1) or any(messages, role:user) or row.n * 2 > task",
	"any(row.response.output, item.output ~ 'done 1')",
}

// plainly finds the rows of a filter by looking at every row whole.
func plainly(t *testing.T, d *Desk, data map[string][]byte, text string) []int32 {
	t.Helper()
	f, err := filter.Parse(text, FilterFields())
	if err != nil {
		t.Fatal(text, err)
	}
	c := d.choose(State{})
	c.tally.count(c.table, c.rules)
	list := []int32{}
	c.table.Each(0, func(r *analysis.Row) bool {
		var reader rollout.Reader
		line := data[c.table.Name(r.Source)][r.Offset : r.Offset+r.Length]
		row := reader.Read(&jsonl.Line{Bytes: line, Length: r.Length, Terminated: true})
		if f.Match(looked{c.itemOf(r), row}) {
			list = append(list, int32(r.Ordinal))
		}
		return true
	})
	return list
}

// looked is a row with its text at hand.
type looked struct {
	*item
	row *rollout.Row
}

func (l looked) Inside(r *filter.Ref) filter.Value {
	var look filter.Look
	look.At(l.row)
	return look.Inside(r)
}

// scanAsked runs the second scan that a State needs, in pieces, and looks at the results in between.
func scanAsked(t *testing.T, d *Desk, data map[string][]byte, s State, rng *rand.Rand) (pieces int) {
	t.Helper()
	for {
		a := d.Asking(s)
		if a == nil {
			return pieces
		}
		q, err := Ask(a.Filter)
		if err != nil || QuestionID(q) != a.ID {
			t.Fatalf("%s: scanners understand another question: %v", a.Filter, err)
		}
		task := a.Tasks[rng.IntN(len(a.Tasks))]
		from := task.From
		if pieces < 20 {
			from += rng.Int64N(task.To - task.From)
		}
		to := min(from+1+rng.Int64N(10_000), task.To)
		file := data[d.files[task.File].Path]
		scan := analysis.NewScan(task.Source, from, to, 0).Ask(q.Number(), analysis.RowMapper(q))
		if scan.Feed(file[min(scan.Next(), int64(len(file))):]); !scan.Done() {
			scan.Finish()
		}
		p, err := analysis.ParsePartial(scan.Take().AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Add(p); err != nil {
			t.Fatal(err)
		}
		if pieces++; pieces%10 > 0 {
			continue
		}
		page, _ := d.Page(s, Host{}, nil)
		if pending := d.Asking(s) != nil; (page.Phase == Scanning) != pending || strings.Contains(page.Filter.Unit, "scanning") != pending {
			t.Fatalf("phase %s, %q while pending is %t", page.Phase, page.Filter.Unit, pending)
		}
	}
}

// TestQuestions wants the rows of filters that read inside rows: those that a look at every row finds, in whatever
// pieces and order the second scan runs, on the desk and for commands.
func TestQuestions(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	data := map[string][]byte{"a.jsonl": rowsFile(rng, 150), "b.jsonl": rowsFile(rng, 80)}
	files := []runfolder.File{{Path: "a.jsonl", Size: int64(len(data["a.jsonl"]))}, {Path: "b.jsonl", Size: int64(len(data["b.jsonl"]))}}
	sources := []source.Source{source.Bytes("a.jsonl", data["a.jsonl"]), source.Bytes("b.jsonl", data["b.jsonl"])}
	table, err := analysis.Read(t.Context(), sources, analysis.Options{Block: 5000})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range questions {
		d := openDesk(t, files, data)
		want := plainly(t, d, data, text)
		s := State{Tab: "rollouts", Filter: text, Sort: "place"}
		scanAsked(t, d, data, s, rng)
		c := d.choose(s)
		if got := d.filter(c, s).list; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if len(want) == 0 && text != "row.x = row.n" {
			t.Errorf("%s: no row fits", text)
		}
		q, err := Ask(text)
		if err != nil {
			t.Fatal(err)
		}
		answers, err := analysis.Ask(t.Context(), sources, q.Number(), analysis.RowMapper(q), analysis.Options{Workers: 2, Block: 3000})
		if err != nil {
			t.Fatal(err)
		}
		report := reportOf(t, table)
		list, err := Search(table, report, text, "", answers)
		if err != nil {
			t.Fatal(text, err)
		}
		got := []int32{}
		for _, n := range list {
			got = append(got, int32(n))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the command finds %v, want %v", text, got, want)
		}
		if _, err := Search(table, report, text, "", nil); err == nil {
			t.Errorf("%s: found without asking", text)
		}
	}
}

func reportOf(t *testing.T, table *analysis.Table) *health.Report {
	t.Helper()
	c := &selection{table: table}
	report, err := c.reduce()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestQuestionsKept asks filters one after the other on one desk: what was answered is not asked again.
func TestQuestionsKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	data := map[string][]byte{"a.jsonl": rowsFile(rng, 120), "b.jsonl": rowsFile(rng, 60)}
	files := []runfolder.File{{Path: "a.jsonl", Size: int64(len(data["a.jsonl"]))}, {Path: "b.jsonl", Size: int64(len(data["b.jsonl"]))}}
	d := openDesk(t, files, data)
	for _, step := range []struct {
		s     State
		asked bool
	}{
		{State{Filter: "row.n > 50 row.same > 3", Drop: []string{"b.jsonl"}}, true},
		{State{Filter: "row.n > 10 reward=1", Drop: []string{"b.jsonl"}}, false},
		{State{Filter: "row.same < row.n or row.n=5", Drop: []string{"b.jsonl"}}, false},
		{State{Filter: "row.n > 10"}, true}, // the other file
		{State{Filter: "row.n > 10", Order: []string{"b.jsonl", "a.jsonl"}}, false},
		{State{Filter: "row.text ~ needle1"}, true},
		{State{Filter: "row.text ~ needle1 masked=false"}, false},
		{State{Filter: "row.text ~ needle2"}, true}, // the long ones were asked for another word
		{State{Filter: "row.text ~ needle1"}, false},
		{State{Filter: "row.n > 70"}, false},
		{State{Filter: "row.list = reward"}, true},
		{State{Filter: "count(tool_calls, name:bash) > 1"}, true},
		{State{Filter: "count(tool_calls, name:bash) = reward + 1"}, false},
		{State{Filter: "count(tool_calls, name:edit) > 1"}, true},
		{State{Filter: "masked"}, false},
	} {
		if asked := scanAsked(t, d, data, step.s, rng) > 0; asked != step.asked {
			t.Errorf("%+v: asked %t", step.s, asked)
		}
		c := d.choose(step.s)
		got := d.filter(c, step.s)
		f, _ := filter.Parse(step.s.Filter, FilterFields())
		n := 0
		c.table.Each(0, func(r *analysis.Row) bool {
			var reader rollout.Reader
			line := data[c.table.Name(r.Source)][r.Offset : r.Offset+r.Length]
			if f.Match(looked{c.itemOf(r), reader.Read(&jsonl.Line{Bytes: line, Length: r.Length, Terminated: true})}) {
				n++
			}
			return true
		})
		if len(got.list) != n || got.pending {
			t.Errorf("%+v: %d rows, want %d; pending %t", step.s, len(got.list), n, got.pending)
		}
	}
	if len(d.asked) > questionsKept {
		t.Errorf("%d questions are kept", len(d.asked))
	}
	d.Open(files, false)
	if len(d.asked) != 0 {
		t.Error("other files answer old questions")
	}
}

// TestAskedLate has answers come that nobody wants, and a scan that ends before its end.
func TestAskedLate(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	data := map[string][]byte{"a.jsonl": rowsFile(rng, 50)}
	files := []runfolder.File{{Path: "a.jsonl", Size: int64(len(data["a.jsonl"]))}}
	d := openDesk(t, files, data)
	q, _ := Ask("row.n > 3")
	scan := analysis.NewScan(0, 0, 500, 0).Ask(q.Number(), analysis.RowMapper(q))
	scan.Feed(data["a.jsonl"])
	late := scan.Take()
	if err := d.Add(late); err != nil {
		t.Errorf("an answer that nobody wants: %v", err)
	}
	s := State{Tab: "rollouts", Filter: "row.n > 3"}
	page, _ := d.Page(s, Host{}, nil)
	if page.Phase != Scanning || page.Filter.Unit != "rollouts, scanning 0 %" || len(page.Rollouts.Table.Rows) != 0 {
		t.Errorf("%s, %q, %d rows", page.Phase, page.Filter.Unit, len(page.Rollouts.Table.Rows))
	}
	for range 2 {
		if err := d.Add(late); err != nil {
			t.Errorf("the same answers twice: %v", err)
		}
	}
	page, _ = d.Page(s, Host{Unasked: "it vanished."}, nil)
	if page.Phase != Ready || !strings.Contains(page.Filter.Error, "it vanished") {
		t.Errorf("%s, %q", page.Phase, page.Filter.Error)
	}
	page, _ = d.Page(s, Host{Reading: true}, nil)
	if page.Phase != Scanning || !strings.Contains(page.Filter.Unit, "waits") {
		t.Errorf("%s, %q", page.Phase, page.Filter.Unit)
	}
	if a := d.Asking(State{Filter: "row.("}); a != nil {
		t.Error("a text that is no filter is asked")
	}
	if a := new(Desk).Asking(s); a != nil {
		t.Error("without files something is asked")
	}
}

func FuzzAnswer(f *testing.F) {
	q, err := Ask("row.a ~ x row.b = task not row.c in (1, 2)")
	if err != nil {
		f.Fatal(err)
	}
	var reader rollout.Reader
	row := reader.Read(&jsonl.Line{Bytes: []byte(`{"a":"` + strings.Repeat("y", 500) + `","b":[1],"c":2.5}`)})
	f.Add(q.Append(nil, row))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := q.parse(b)
		if ok && a.values != nil && len(a.values) != len(q.paths) {
			t.Errorf("%d values", len(a.values))
		}
	})
}
