package view

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// answerProbe runs the second scan of a tab, in pieces of any order.
func answerProbe(t testing.TB, d *Desk, data map[string][]byte, s State, rng *rand.Rand) {
	t.Helper()
	for range 10_000 {
		a := d.Asking(s)
		if a == nil {
			return
		}
		p := ProbeByID(a.Probe)
		if p == nil {
			t.Fatalf("%+v is no probe", a)
		}
		task := a.Tasks[rng.IntN(len(a.Tasks))]
		from := task.From + rng.Int64N(task.To-task.From)
		if rng.IntN(3) == 0 {
			from = task.From
		}
		file := data[d.files[task.File].Path]
		scan := analysis.NewScan(task.Source, from, min(from+1+rng.Int64N(60_000), task.To), 0).Ask(p.Number(), p.Mapper())
		if scan.Feed(file[min(scan.Next(), int64(len(file))):]); !scan.Done() {
			scan.Finish()
		}
		if err := d.Add(scan.Take()); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the second scan goes on and on")
}

// pageOf makes a page and supplies what it needs.
func pageOf(t testing.TB, d *Desk, data map[string][]byte, s State) *Page {
	t.Helper()
	for range 8 {
		page, needs := d.Page(s, Host{}, nil)
		if len(needs) == 0 {
			return page
		}
		for _, n := range needs {
			d.Supply(n, data[d.files[n.File].Path][n.Offset:n.Offset+n.Length], "")
		}
	}
	t.Fatal("the page needs the same bytes again and again")
	return nil
}

// decoded is the State behind a link.
func decoded(t testing.TB, href string) State {
	t.Helper()
	s, odd := Decode(href)
	if len(odd) > 0 {
		t.Fatalf("%s: %v", href, odd)
	}
	return s
}

func factOf(list []Fact, stat string) string {
	for _, f := range list {
		if f.Stat == stat {
			return f.Exact
		}
	}
	return "absent"
}

// measuredRun reads files as the commands about calls and time do.
func measuredRun(t testing.TB, d *Desk, data map[string][]byte) (*modelcall.Report, *perf.Report) {
	t.Helper()
	var (
		reader  rollout.Reader
		calls   modelcall.Reducer
		times   perf.Reducer
		ordinal int64
	)
	for source, file := range d.sources {
		for n, text := range bytes.Split(data[d.files[file].Path], []byte{'\n'}) {
			if jsonl.Blank(text) {
				continue
			}
			row := reader.Read(&jsonl.Line{Bytes: text, Length: int64(len(text)), Number: int64(n) + 1, Terminated: true})
			row.Line = int64(n) + 1
			identity := row.Identity()
			identity = identity.Resolve(ordinal, source, row.Line)
			digest, agent := new(modelcall.Mapper).Append(nil, row), row.Facts().Agent
			if err := calls.Add(&modelcall.Row{Source: source, Line: row.Line, Ordinal: ordinal, Identity: identity, Agent: agent, Digest: digest}); err != nil {
				t.Fatal(err)
			}
			if err := times.Add(&perf.Row{Source: source, Line: row.Line, Ordinal: ordinal, Identity: identity, Agent: agent, Perf: new(perf.Mapper).Append(nil, row), Calls: digest}); err != nil {
				t.Fatal(err)
			}
			ordinal++
		}
	}
	report, err := calls.Report()
	if err != nil {
		t.Fatal(err)
	}
	return report, times.Report()
}

// evidenceRuns are runs with calls of all kinds: many failed ones, several agents, attached and damaged captures.
var evidenceRuns = []string{"health/s05-failed-calls/input", "health/s16-agents/input", "project/s21-projection-damaged/expected", "health/s09-unreadable/input"}

func evidenceRun(t testing.TB, name string) (*Desk, map[string][]byte) {
	t.Helper()
	files, data := folder(t, "../../testdata/"+name)
	files = slices.DeleteFunc(files, func(f runfolder.File) bool { return strings.Contains(f.Path, "observability_off") })
	return openDesk(t, files, data), data
}

// TestCallsTab wants the numbers of the command, and behind every mark the calls that it counts.
func TestCallsTab(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, name := range evidenceRuns {
		d, data := evidenceRun(t, name)
		s := State{Tab: "calls"}
		if before, _ := d.Page(s, Host{}, nil); before.Phase != Scanning || before.Calls.Note == "" || before.Calls.Table.Total != 0 {
			t.Errorf("%s: %s, %q before anything was looked at", name, before.Phase, before.Calls.Note)
		}
		if left, _ := d.Page(s, Host{Unasked: "it has vanished"}, nil); left.Phase != Ready || !strings.Contains(codes(left), "vanished=1") {
			t.Errorf("%s: %s, %s when the second scan has failed", name, left.Phase, codes(left))
		}
		answerProbe(t, d, data, s, rng)
		page := pageOf(t, d, data, s)
		want, _ := measuredRun(t, d, data)
		all := strconv.FormatInt(want.All.Calls, 10)
		if page.Phase != Ready || factOf(page.Calls.Facts, "calls.total") != all || factOf(page.Calls.Facts, "calls.failed") != strconv.FormatInt(want.All.Failed, 10) {
			t.Errorf("%s: %s %+v, want %d calls, %d failed", name, page.Phase, page.Calls.Facts, want.All.Calls, want.All.Failed)
		}
		if want.All.Calls > 0 && len(page.Calls.Charts) < 3 {
			t.Errorf("%s: %d charts", name, len(page.Calls.Charts))
		}
		for _, chart := range page.Calls.Charts {
			for _, b := range chart.Bins {
				one := pageOf(t, d, data, decoded(t, b.Href))
				if one.Calls == nil {
					t.Fatalf("%s: %s %s leads to %s", name, chart.ID, b.Label, b.Href)
				}
				if one.Calls.Error != "" || one.Calls.Table.Total != int(b.Value) || factOf(one.Calls.Facts, "calls.total") != strconv.Itoa(int(b.Value)) || len(one.Calls.Chips) == 0 {
					t.Errorf("%s: %s %s has %v calls, its link %d: %s", name, chart.ID, b.Label, b.Value, one.Calls.Table.Total, b.Href)
				}
				if back := decoded(t, one.Calls.Chips[0].Remove); len(one.Calls.Chips) == 1 && back.Setting(callsWhere) != "" {
					t.Errorf("%s: %+v stays", name, back.Set)
				}
			}
		}
		// Rows of the filter first, then conditions on their calls.
		for agent, calls := range map[string]int{"": 0, "alpha_agent": 0, "synthetic_agent": 0} {
			want.Each(func(r *modelcall.Row, c *modelcall.Summary) bool {
				if r.Agent == agent && c.Turn > 1 {
					calls++
				}
				return true
			})
			term := "not has(agent)"
			if agent != "" {
				term = "agent:" + agent
			}
			if one := pageOf(t, d, data, State{Tab: "calls", Filter: term}.Choose(callsWhere, "turn>1")); one.Calls.Table.Total != calls {
				t.Errorf("%s: %d calls of %q behind the first turn, want %d", name, one.Calls.Table.Total, agent, calls)
			}
		}
		if one := pageOf(t, d, data, s.Choose(callsWhere, "turn >")); one.Calls.Error == "" || one.Calls.Table.Total != int(want.All.Calls) {
			t.Errorf("%s: %q, %d calls", name, one.Calls.Error, one.Calls.Table.Total)
		}
	}
}

// callCSV is the whole table of calls in the order of a sort, by the keys of its columns.
func callCSV(t *testing.T, d *Desk, s State) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(exportAll(t, d, s.Encode(), "calls", "csv", nil))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, key := range records[0] {
			row[key] = r[i]
		}
		list = append(list, row)
	}
	return list
}

// TestCallOrder sorts by every column in both directions and holds the table against the calls one by one.
func TestCallOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, name := range evidenceRuns[:3] {
		d, data := evidenceRun(t, name)
		s := State{Tab: "calls"}
		for _, col := range callColumns {
			s.Columns = append(s.Columns, Shown{Key: col.Key})
		}
		answerProbe(t, d, data, s, rng)
		want, _ := measuredRun(t, d, data)
		natural := callCSV(t, d, s)
		if len(natural) != int(want.All.Calls) {
			t.Fatalf("%s: %d calls, want %d", name, len(natural), want.All.Calls)
		}
		n := 0
		want.Each(func(r *modelcall.Row, c *modelcall.Summary) bool {
			row := natural[n]
			n++
			turn := ""
			if c.Turn > 0 {
				turn = strconv.Itoa(c.Turn)
			}
			got := fmt.Sprint(row["call"], row["turn"], row["model"], row["error"], row["invocation"], row["agent"])
			if w := fmt.Sprint(strconv.Itoa(c.Index+1), turn, c.Model, c.Category, c.Invocation, r.Agent); got != w {
				t.Fatalf("%s: call %d is %s, want %s", name, n, got, w)
			}
			if c.TokensOut.Set && row["completion"] != c.TokensOut.Int.String() || c.LatencyMS.Set && row["latency"] != shortest(c.LatencyMS.Value) {
				t.Fatalf("%s: %v of %+v", name, row, c)
			}
			return true
		})
		for _, key := range callSortKeys() {
			up, down := callCSV(t, d, sortedState(s, key)), callCSV(t, d, sortedState(s, "-"+key))
			for k, list := range [...][]map[string]string{up, down} {
				if len(list) != len(natural) {
					t.Fatalf("%s by %s: %d calls", name, key, len(list))
				}
				missing := false
				for i := range list {
					value := list[i][key]
					missing = missing || value == ""
					if missing && value != "" {
						t.Errorf("%s by %s: %q behind missing ones", name, key, value)
					}
					if i == 0 || value == "" {
						continue
					}
					x, errX := strconv.ParseFloat(list[i-1][key], 64)
					y, errY := strconv.ParseFloat(value, 64)
					if errX == nil && errY == nil && (k == 0 && x > y || k == 1 && x < y) {
						t.Errorf("%s by %s: %v before %v", name, key, x, y)
					}
				}
			}
		}
		// A window is the same as that part of the whole.
		table, _, err := d.Window(sortedState(s, "-latency"), "calls", 3, 9)
		if err != nil || len(table.Rows) > 0 && exactAt(table.Rows[0], 2) != callCSV(t, d, sortedState(s, "-latency"))[3]["call"] {
			t.Errorf("%s: %v %+v", name, err, table.Rows)
		}
	}
}

func sortedState(s State, by string) State { return s.With(func(s *State) { s.Sort = by }) }

// TestCallLink follows a call to its turn.
func TestCallLink(t *testing.T) {
	d, data := evidenceRun(t, "health/s05-failed-calls/input")
	s := State{Tab: "calls"}
	answerProbe(t, d, data, s, rand.New(rand.NewPCG(1, 2)))
	followed := 0
	for _, row := range pageOf(t, d, data, s).Calls.Table.Rows {
		to := decoded(t, row.Href)
		if to.Rollout != row.Rollout || to.Rollout == "" {
			t.Fatalf("%s leads to %+v", row.ID, to)
		}
		page := pageOf(t, d, data, to)
		spotted := false
		var look func(list []Block)
		look = func(list []Block) {
			for _, b := range list {
				spotted = spotted || b.ID == to.At && b.Current
				look(b.Children)
			}
		}
		if page.Rollout != nil {
			look(page.Rollout.Blocks)
		}
		if to.At == "" || !spotted {
			t.Errorf("%s: %q is not shown, the target is %s", row.Href, to.At, page.Target)
		}
		if followed++; followed == 8 {
			break
		}
	}
	if followed == 0 {
		t.Error("no call has a turn")
	}
}

// TestCaptures holds the captures of a run against its rows.
func TestCaptures(t *testing.T) {
	files, data := folder(t, "../../testdata/project/s21-projection-damaged")
	files = slices.DeleteFunc(files, func(f runfolder.File) bool {
		return !strings.Contains(f.Path, "/captures/") && !strings.HasSuffix(f.Path, "expected/projected_rollouts.jsonl") || strings.Contains(f.Path, "observability_off")
	})
	// One more capture that lacks its last line, one with a call that came later, one that was changed, one of nobody.
	changed := map[string]func([]byte) []byte{
		"0-0.capture.jsonl": func(b []byte) []byte { return b[:bytes.LastIndexByte(bytes.TrimSpace(b), '\n')+1] },
		"0-1.capture.jsonl": func(b []byte) []byte {
			return append(bytes.Clone(b), b[:bytes.IndexByte(b, '\n')+1]...)
		},
		"1-0.capture.jsonl": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"latency_total_ms": 1250`), []byte(`"latency_total_ms": 1251`), 1)
		},
	}
	for i := range files {
		if change := changed[path.Base(files[i].Path)]; change != nil {
			data[files[i].Path] = change(data[files[i].Path])
			files[i].Size = int64(len(data[files[i].Path]))
		}
	}
	files = append(files, runfolder.File{Path: "s21-projection-damaged/input/captures/77-0.capture.jsonl"})
	d := openDesk(t, files, data)
	s := State{Tab: "calls"}
	answerProbe(t, d, data, s, rand.New(rand.NewPCG(3, 4)))
	page := pageOf(t, d, data, s)
	got := map[string]string{}
	damaged := 0
	for _, row := range page.Calls.Captures.Table.Rows {
		got[path.Base(exactAt(row, 0))] = row.Cells[6].Text.Text
		n, _ := strconv.Atoi(row.Cells[5].Text.Text)
		damaged += n
	}
	for name, want := range map[string]string{
		"0-0.capture.jsonl": "has 1 call less than the row: cut or replaced", "0-1.capture.jsonl": "1 call came after the row",
		"1-1.capture.jsonl": "agrees", "explicit.id.capture.jsonl": "agrees", "6-2-a2.capture.jsonl": "agrees",
		"7-1.capture.incomplete": "marks that an exchange could not be written", "77-0.capture.jsonl": "no row that was read has this key",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if !strings.Contains(got["1-0.capture.jsonl"], "differs") && bytes.Contains(data["s21-projection-damaged/input/captures/1-0.capture.jsonl"], []byte("1251")) {
		t.Errorf("1-0: %q", got["1-0.capture.jsonl"])
	}
	if damaged == 0 || !strings.Contains(codes(page), "unreadable_row="+strconv.Itoa(damaged)) {
		t.Errorf("%d damaged lines, alerts %s", damaged, codes(page))
	}
	if len(d.papers) > 0 {
		t.Errorf("%d captures are kept whole", len(d.papers))
	}
}

// TestCallFields names every field of a call in the manual, and gives each a value.
func TestCallFields(t *testing.T) {
	manual, err := os.ReadFile("../../docs/page.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := callFilterFields.Check(); err != nil {
		t.Error(err)
	}
	row := calledRow{agent: "a", call: &modelcall.Summary{Model: "m", Server: "s", Dialect: "chat", Finish: "stop", Category: "timeout", ResponseStatus: "failed", Turn: 1, Invocation: "root",
		Status: lax.CountOf(504), Started: lax.RealOf(1), Completed: lax.RealOf(2), LatencyMS: lax.RealOf(1000), TTFTMS: lax.RealOf(10),
		TokensIn: lax.CountOf(1), TokensOut: lax.CountOf(2), TokensReasoning: lax.CountOf(1), Cached: lax.CountOf(0)}}
	for _, f := range callFilterFields {
		if !bytes.Contains(manual, []byte("`"+f.Name+"`")) {
			t.Errorf("the manual does not name %s", f.Name)
		}
		if row.Field(f.Name).IsMissing() {
			t.Errorf("%s has no value", f.Name)
		}
		if f.Name != "failed" && !(calledRow{call: new(modelcall.Summary)}).Field(f.Name).IsMissing() {
			t.Errorf("%s has a value where there is none", f.Name)
		}
	}
}
