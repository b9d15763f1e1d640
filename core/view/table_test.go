package view

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/synth"
)

// sampleDesk has the sample run read; data is its file.
func sampleDesk(t *testing.T) (d *Desk, data []byte) {
	t.Helper()
	data = synth.Sample()[0].Data
	return deskOf(t, "rollouts.jsonl", data), data
}

func deskOf(t *testing.T, name string, data []byte) *Desk {
	t.Helper()
	return openDesk(t, []runfolder.File{{Path: name, Size: int64(len(data))}}, map[string][]byte{name: data})
}

func page(t *testing.T, d *Desk, fragment string) (*Page, State) {
	t.Helper()
	s, odd := d.Read(fragment, Host{})
	if len(odd) > 0 {
		t.Fatalf("%s: %v means nothing", fragment, odd)
	}
	p, needs := d.Page(s, Host{}, nil)
	if len(needs) > 0 {
		t.Fatalf("%s needs %v", fragment, needs)
	}
	return p, s
}

// Every mark of a chart counts the rows that its link leaves.
func TestChartsFilter(t *testing.T) {
	d, _ := sampleDesk(t)
	for _, fragment := range []string{"tab=rollouts", "tab=rollouts&filter=verdict:unhealthy", "tab=rollouts&filter=reward%3D1 turns<3", "tab=rollouts&filter=agent:hermes"} {
		p, _ := page(t, d, fragment)
		if len(p.Rollouts.Charts) < 4 {
			t.Fatalf("%s: %d charts", fragment, len(p.Rollouts.Charts))
		}
		for _, c := range p.Rollouts.Charts {
			sum := 0.0
			for _, b := range c.Bins {
				sum += b.Value
				there, _ := page(t, d, b.Href)
				if there.Filter.Error != "" || float64(there.Filter.Shown) != b.Value {
					t.Errorf("%s: %s %s has %v, its link %s shows %d %s", fragment, c.ID, b.Label, b.Value, b.Href, there.Filter.Shown, there.Filter.Error)
				}
				if b.Text != Group(int(b.Value)) {
					t.Errorf("%s: %s %s: %s", fragment, c.ID, b.Label, b.Text)
				}
			}
			if sum > float64(p.Filter.Shown) {
				t.Errorf("%s: %s counts %v of %d", fragment, c.ID, sum, p.Filter.Shown)
			}
			if c.Note == "" && sum != float64(p.Filter.Shown) {
				t.Errorf("%s: %s does not say what it lacks", fragment, c.ID)
			}
		}
		if s, _ := d.Read(fragment, Host{}); true {
			if _, ok := d.Chart(s, p.Rollouts.Charts[0].ID); !ok {
				t.Error("a chart of the page cannot be found by its id")
			}
		}
	}
	p, _ := page(t, d, "tab=tasks")
	if len(p.Tasks.Charts) != 2 {
		t.Fatalf("%d charts of tasks", len(p.Tasks.Charts))
	}
	for _, c := range p.Tasks.Charts {
		for _, b := range c.Bins {
			if there, _ := page(t, d, b.Href); float64(there.Tasks.Table.Total) != b.Value {
				t.Errorf("%s %s has %v, its link %s shows %d tasks", c.ID, b.Label, b.Value, b.Href, there.Tasks.Table.Total)
			}
		}
	}
}

func TestManyAgents(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `{"_ng_task_index":%d,"_ng_rollout_index":0,"agent_ref":{"name":"agent %d"},"response":{}}`+"\n", i, i%12)
	}
	b.WriteString(`{"_ng_task_index":99,"_ng_rollout_index":0,"response":{}}` + "\n")
	d := deskOf(t, "rollouts.jsonl", []byte(b.String()))
	p, _ := page(t, d, "tab=rollouts")
	i := slices.IndexFunc(p.Rollouts.Charts, func(c Chart) bool { return c.ID == "agent" })
	if i < 0 {
		t.Fatal("there is no chart of agents")
	}
	bins, sum := p.Rollouts.Charts[i].Bins, 0.0
	for _, b := range bins {
		sum += b.Value
	}
	if len(bins) != mostAgents || sum != 30 || bins[len(bins)-1].Name != "5 other agents" || bins[len(bins)-1].Href != "" {
		t.Errorf("%+v", bins)
	}
	agents := agentTable(d.choose(State{}), State{})
	if last := agents.Rows[len(agents.Rows)-1]; len(agents.Rows) != agentRows+1 || last.Cells[0].Text.Text != "8 others" {
		t.Errorf("%d rows, last %+v", len(agents.Rows), last.Cells[0])
	}
}

func keysOf(columns []Column) string {
	var keys []string
	for _, c := range columns {
		keys = append(keys, c.Key)
	}
	return strings.Join(keys, ",")
}

func TestChooser(t *testing.T) {
	d, _ := sampleDesk(t)
	for _, tab := range []string{"rollouts", "tasks"} {
		p, _ := page(t, d, "tab="+tab)
		table := func(p *Page) Table {
			if tab == "tasks" {
				return p.Tasks.Table
			}
			return p.Rollouts.Table
		}
		usual := keysOf(table(p).Columns)
		if p.Chooser.Default != "" || p.Chooser.Shown != len(table(p).Columns) {
			t.Errorf("%s: %+v", tab, p.Chooser)
		}
		for i, e := range p.Chooser.Entries {
			for name, href := range map[string]string{"toggle": e.Toggle, "up": e.Up, "down": e.Down, "wider": e.Wider, "narrower": e.Narrower} {
				if href == "" {
					continue
				}
				there, _ := page(t, d, href)
				got := keysOf(table(there).Columns)
				has := slices.ContainsFunc(table(there).Columns, func(c Column) bool { return c.Key == e.Key })
				switch name {
				case "toggle":
					if has == e.On {
						t.Errorf("%s: the toggle of %s gives %s", tab, e.Key, got)
					}
				case "up":
					if table(there).Columns[i-1].Key != e.Key {
						t.Errorf("%s: up with %s gives %s", tab, e.Key, got)
					}
				case "down":
					if table(there).Columns[i+1].Key != e.Key {
						t.Errorf("%s: down with %s gives %s", tab, e.Key, got)
					}
				default:
					if got != usual {
						t.Errorf("%s: %s of %s gives %s", tab, name, e.Key, got)
					}
				}
				if back, _ := page(t, d, there.Chooser.Default); keysOf(table(back).Columns) != usual {
					t.Errorf("%s: the way back from %s gives %s", tab, href, keysOf(table(back).Columns))
				}
			}
		}
	}
	// One column is the least.
	p, _ := page(t, d, "tab=rollouts&columns=reward:90")
	if e := p.Chooser.Entries[0]; e.Toggle != "" || e.Up != "" || e.Down != "" || p.Rollouts.Table.Columns[0].Width != 90 || !p.Rollouts.Table.Columns[0].Set {
		t.Errorf("%+v", e)
	}
	// A column comes to where it stands by nature.
	p, _ = page(t, d, "tab=rollouts&columns=place,task,bytes")
	for _, e := range p.Chooser.Entries {
		if e.Key == "repeat" {
			if there, _ := page(t, d, e.Toggle); keysOf(there.Rollouts.Table.Columns) != "place,task,repeat,bytes" {
				t.Error(keysOf(there.Rollouts.Table.Columns))
			}
		}
	}
	// What was chosen before holds for its tab alone, and only where a link does not say otherwise.
	h := Host{Columns: map[string]string{"rollouts": "task,nope,reward:70", "tasks": ""}}
	for fragment, want := range map[string]string{
		"tab=rollouts": "tab=rollouts&columns=task,reward:70", "tab=tasks": "tab=tasks", "tab=rollouts&columns=name": "tab=rollouts&columns=name", "": "",
	} {
		if s, _ := d.Read(fragment, h); s.Encode() != want {
			t.Errorf("%s: %s", fragment, s.Encode())
		}
	}
}

func TestFootOfTables(t *testing.T) {
	d, _ := sampleDesk(t)
	p, _ := page(t, d, "tab=rollouts&sort=-reward&filter=verdict:unhealthy")
	if p.Sight.Text != "rows 1–16 of 16" || p.Foot[0].Text != "sorted by reward, descending" || p.Foot[1].Text != fmt.Sprintf("12 of %d columns", len(rolloutColumns)) {
		t.Errorf("%+v %+v", p.Sight, p.Foot)
	}
	p, _ = page(t, d, "tab=rollouts&filter=turns>100")
	if p.Sight.Text != "rows 0–0 of 0" || len(p.Rollouts.Table.Rows) != 0 || p.Rollouts.Table.Empty == "" {
		t.Errorf("%+v", p.Sight)
	}
}

// exportAll puts the parts of an export together.
func exportAll(t *testing.T, d *Desk, fragment, table, form string, data []byte) string {
	t.Helper()
	s, _ := d.Read(fragment, Host{})
	var b bytes.Buffer
	for from, rounds := 0, 0; ; rounds++ {
		e, err := d.Export(s, table, form, from)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Text)
		for _, r := range e.Ranges {
			b.Write(data[r.Offset : r.Offset+r.Length])
			b.WriteByte('\n')
		}
		if e.Done {
			return b.String()
		}
		if from = e.Next; rounds > 1000 {
			t.Fatal("an export does not end")
		}
	}
}

func TestExports(t *testing.T) {
	d, data := sampleDesk(t)
	if got := exportAll(t, d, "tab=rollouts", "rollouts", "jsonl", data); got != string(bytes.TrimRight(data, "\n"))+"\n" {
		t.Error("all rows as JSONL are not the file")
	}
	lines := strings.Split(strings.TrimRight(exportAll(t, d, "tab=rollouts&filter=reward%3D1&sort=-completion", "rollouts", "jsonl", data), "\n"), "\n")
	p, _ := page(t, d, "tab=rollouts&filter=reward%3D1&sort=-completion")
	if len(lines) != p.Filter.Shown {
		t.Fatalf("%d lines of %d rows", len(lines), p.Filter.Shown)
	}
	for i, line := range lines {
		var row struct {
			Task int `json:"_ng_task_index"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if got := p.Rollouts.Table.Rows[i].Cells[0].Text.Text; got != strconv.Itoa(row.Task) {
			t.Errorf("line %d is of task %d, the row of %s", i, row.Task, got)
		}
	}
	for _, table := range []string{"rollouts", "tasks", "checks", "eyes", "read", "others", "refused"} {
		text := exportAll(t, d, "tab=rollouts", table, "csv", data)
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(records) == 0 {
			t.Errorf("%s: %d records, %v", table, len(records), err)
		}
		tsv := strings.Split(exportAll(t, d, "tab=rollouts", table, "tsv", data), "\n")
		if len(tsv) != len(records)+1 {
			t.Errorf("%s: %d lines of TSV, %d records of CSV", table, len(tsv), len(records))
		}
		if table == "rollouts" || table == "refused" {
			continue
		}
		objects := strings.Split(strings.TrimRight(exportAll(t, d, "tab=rollouts", table, "jsonl", data), "\n"), "\n")
		for _, o := range objects {
			if o != "" && !json.Valid([]byte(o)) {
				t.Errorf("%s: %s", table, o)
			}
		}
	}
	s, _ := d.Read("", Host{})
	for _, bad := range [][2]string{{"nothing", "csv"}, {"rollouts", "xml"}} {
		if _, err := d.Export(s, bad[0], bad[1], 0); err == nil {
			t.Errorf("%v was made", bad)
		}
	}
	if e, err := d.Export(s, "rollouts", "csv", 1<<40); err != nil || !e.Done {
		t.Errorf("%+v %v", e, err)
	}
}

// More rows than one part holds.
func TestExportsInParts(t *testing.T) {
	var b strings.Builder
	for i := range rangePart + textPart + 7 {
		fmt.Fprintf(&b, "{\"_ng_task_index\":%d,\"_ng_rollout_index\":0,\"response\":{}}\n", i)
		if i%5000 == 0 {
			b.WriteString(" \n")
		}
	}
	data := []byte(b.String())
	d := deskOf(t, "rollouts.jsonl", data)
	if got := exportAll(t, d, "tab=rollouts", "rollouts", "jsonl", data); got != strings.ReplaceAll(string(data), " \n", "") {
		t.Error("the rows are not all there")
	}
	if got := strings.Count(exportAll(t, d, "tab=rollouts", "rollouts", "csv", data), "\n"); got != rangePart+textPart+7+1 {
		t.Error(got)
	}
}

func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "=1+1": "'=1+1", "+1": "'+1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "-": "'-", "-a": "'-a", "--1": "'--1",
		"-1": "-1", "-0.5": "-0.5", "-1e-7": "-1e-7", "-1.": "'-1.", "-01": "'-01", "-.5": "'-.5", "-1e": "'-1e", "-1+1": "'-1+1", "-NaN": "'-NaN", "-Infinity": "'-Infinity",
		"'=1": "'=1", " =1": " =1", "1=1": "1=1",
	} {
		if got := inert(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	evil := `{"_ng_task_index":"=cmd|' /C calc'!A0","_ng_rollout_index":-1,"agent_ref":{"name":"@SUM(1,\"2\")"},"task_id":"+1","reward":-0.5,"response":{}}`
	d := deskOf(t, "-rollouts.jsonl", []byte(evil))
	text := exportAll(t, d, "tab=rollouts&columns=task,repeat,agent,name,reward,file", "rollouts", "csv", nil)
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 2 {
		t.Fatalf("%v %q", err, text)
	}
	want := []string{`"=cmd|' /C calc'!A0"`, "-1", `'@SUM(1,"2")`, "'+1", "-0.5", "'-rollouts.jsonl"}
	if !slices.Equal(records[1], want) {
		t.Errorf("%q, want %q", records[1], want)
	}
}

// Copies hold values as saved; separators are for eyes, and a text is not taken for a number.
func TestCopiesAreExact(t *testing.T) {
	row := `{"_ng_task_index":12345678901234567890,"_ng_rollout_index":0,"agent_ref":{"name":"1,234"},"task_id":"–","reward":0.30000000000000004,"response":{"usage":{"input_tokens":1234567,"output_tokens":9007199254740993}}}`
	d := deskOf(t, "rollouts.jsonl", []byte(row))
	got := exportAll(t, d, "tab=rollouts&columns=task,agent,name,reward,prompt,completion,turns", "rollouts", "tsv", nil)
	if want := "task\tagent\tname\treward\tprompt\tcompletion\tturns\n12345678901234567890\t1,234\t–\t0.30000000000000004\t1234567\t9007199254740993\t\n"; got != want {
		t.Errorf("%q\n%q", got, want)
	}
}

func TestSortsPutWhatIsMissingLast(t *testing.T) {
	rows := []string{
		`{"_ng_task_index":10,"_ng_rollout_index":0,"task_id":"t10","reward":2,"response":{}}`,
		`{"_ng_task_index":"b","_ng_rollout_index":0,"response":{}}`,
		`{"_ng_task_index":9,"_ng_rollout_index":0,"task_id":"t9","reward":"high","response":{}}`,
		`{"_ng_task_index":-1,"_ng_rollout_index":0,"task_id":"t1","reward":1e3,"response":{}}`,
		`{"_ng_task_index":9,"_ng_rollout_index":0,"task_id":"t9","reward":10,"response":{}}`,
	}
	d := deskOf(t, "rollouts.jsonl", []byte(strings.Join(rows, "\n")))
	for sorting, want := range map[string]string{
		"": "1 2 3 4 5", "task": "4 3 5 1 2", "-task": "2 1 3 5 4", "name": "4 3 5 1 2", "-name": "1 3 5 4 2",
		"reward": "1 5 4 3 2", "-reward": "4 5 1 3 2", "place": "1 2 3 4 5", "-place": "5 4 3 2 1", "turns": "1 2 3 4 5", "-turns": "1 2 3 4 5",
	} {
		p, _ := page(t, d, "tab=rollouts&columns=line&sort="+sorting)
		var got []string
		for _, r := range p.Rollouts.Table.Rows {
			got = append(got, r.Cells[0].Text.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sorting, got, want)
		}
	}
}

// Every column of both tables can be shown and, where it says so, sorted by in both directions without losing rows.
func TestEveryColumn(t *testing.T) {
	d, _ := sampleDesk(t)
	for tab, all := range map[string][]choosable{"rollouts": rolloutChoice(), "tasks": taskChoice()} {
		for _, c := range all {
			p, _ := page(t, d, "tab="+tab+"&columns="+c.Key)
			table := &p.Tasks
			var col Column
			if tab == "rollouts" {
				col = p.Rollouts.Table.Columns[0]
			} else {
				col = (*table).Table.Columns[0]
			}
			if col.Help == "" {
				t.Errorf("%s: %s has no help", tab, c.Key)
			}
			if col.Href == "" {
				continue
			}
			for _, dir := range []string{"", "-"} {
				text := exportAll(t, d, "tab="+tab+"&sort="+dir+c.Key, tab, "tsv", nil)
				plain := exportAll(t, d, "tab="+tab, tab, "tsv", nil)
				a, b := strings.Split(text, "\n"), strings.Split(plain, "\n")
				slices.Sort(a)
				slices.Sort(b)
				if !slices.Equal(a, b) {
					t.Errorf("%s: sorting by %s%s changes the rows", tab, dir, c.Key)
				}
			}
		}
	}
}

func TestGrid(t *testing.T) {
	row := func(task, repeat any, more string) string {
		return fmt.Sprintf(`{"_ng_task_index":%v,"_ng_rollout_index":%v,"response":{}%s}`, task, repeat, more)
	}
	rows := []string{
		row(0, 0, `,"reward":1`), row(0, 2, `,"reward":0.25`), row(0, 2, `,"reward":0`),
		row(`"0"`, 1, `,"reward":1,"mask_sample":true`), row(5, 3, `,"reward":"odd"`), `{"cut`,
	}
	d := deskOf(t, "rollouts.jsonl", []byte(strings.Join(rows, "\n")))
	s, _ := d.Read("tab=tasks&filter=reward<1 or masked", Host{})
	p, _ := d.Page(s, Host{}, nil)
	if p.Tasks.Table.Total != 2 {
		t.Fatalf("%d tasks", p.Tasks.Table.Total)
	}
	b, err := d.Cells(s, 0, 99)
	if err != nil {
		t.Fatal(err)
	}
	var words [4]uint32
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if words != [4]uint32{0, 2, 4, 2} {
		t.Fatalf("%v", words)
	}
	cells, rest := b[16:24], b[24:]
	want := []byte{3 | 0x10 | CellUnfitting, 0, 3 | CellReward | CellRepeated, 0, 0, 3 | 0x10 | CellMasked, 0, 0}
	for i := range want {
		if cells[i]&^CellVerdict != want[i]&^CellVerdict || (cells[i]&CellVerdict == 0) != (want[i] == 0) {
			t.Errorf("cell %d is %#x, want %#x", i, cells[i], want[i])
		}
	}
	if len(rest) != 4 || math.Float32frombits(binary.LittleEndian.Uint32(rest)) != 0.25 {
		t.Errorf("%v", rest)
	}
	for at, parts := range map[[2]int][]string{
		{0, 0}: {"task 0, repeat 0: ", "reward 1", "outside of the filter"}, {0, 1}: {"repeat 1: no row"},
		{0, 2}: {"reward 0.25", "2 rows with this place"}, {1, 1}: {`task "0"`, "masked"},
	} {
		cell, err := d.Cell(s, at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(cell.Text, part) {
				t.Errorf("%v: %s lacks %q", at, cell.Text, part)
			}
		}
		if (cell.Href == "") != strings.Contains(cell.Text, "no row") {
			t.Errorf("%v leads to %q", at, cell.Href)
		}
	}
	for _, at := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {0, 4}} {
		if _, err := d.Cell(s, at[0], at[1]); err == nil {
			t.Errorf("%v has a cell", at)
		}
	}
	for _, window := range [][2]int{{-5, -1}, {1, 0}, {7, 9}, {1, 2}} {
		if _, err := d.Cells(s, window[0], window[1]); err != nil {
			t.Errorf("%v: %v", window, err)
		}
	}
	// Counts are those of the rows that fit; what is masked or no number has no reward that counts.
	line := d.listed(d.choose(s), s).lines[0]
	if line.rows != 2 || line.scored != 2 || line.solved != 0 || line.sum != 0.25 || line.least != 0 || line.top != 0.25 {
		t.Errorf("%+v", line)
	}
	if line := d.choose(s).groups().totals[1]; line.scored != 0 || !math.IsNaN(line.mean()) || !math.IsNaN(line.spread()) {
		t.Errorf("%+v", line)
	}
}

// Repeats that are texts, or far apart, stand side by side in their order.
func TestGridByPosition(t *testing.T) {
	for _, keys := range [][3]string{{`"b"`, `"a"`, "7"}, {"100000", "5", "1"}, {"-1", "3", "2"}} {
		var rows []string
		for i, key := range keys {
			rows = append(rows, fmt.Sprintf(`{"_ng_task_index":1,"_ng_rollout_index":%s,"reward":%d,"response":{}}`, key, i))
		}
		d := deskOf(t, "rollouts.jsonl", []byte(strings.Join(rows, "\n")))
		s, _ := d.Read("tab=tasks", Host{})
		p, _ := d.Page(s, Host{}, nil)
		if p.Tasks.Grid.Repeats != 3 {
			t.Errorf("%v: %d columns", keys, p.Tasks.Grid.Repeats)
			continue
		}
		cells := make([]gridCell, 3)
		c := d.choose(s)
		c.cells(cells, 0)
		for i := 1; i < 3; i++ {
			a, b := c.tally.series.repeat[cells[i-1].ordinal], c.tally.series.repeat[cells[i].ordinal]
			if c.tally.series.repeats[a].Compare(c.tally.series.repeats[b]) >= 0 {
				t.Errorf("%v: column %d is out of order", keys, i)
			}
		}
	}
}

func TestGridHead(t *testing.T) {
	for columns, cell := range map[int]int{1: 38, 8: 38, 16: 38, 17: 24, 26: 24, 45: 14, 106: 6, 107: 3, 5000: 3} {
		if h := gridHead(repeatLayout{columns: columns, byIndex: true}); h.Cell != cell || len(h.Labels) != min(columns, gridMost) || h.Columns != len(h.Labels) {
			t.Errorf("%d columns: %d of %d px, %d labels", columns, h.Columns, h.Cell, len(h.Labels))
		}
	}
}

func TestTaskFields(t *testing.T) {
	d, _ := sampleDesk(t)
	p, _ := page(t, d, "tab=tasks")
	for _, c := range []string{"task.solved>=2", "task.scored=4 and task.repeats=4", "task.unhealthy>1"} {
		there, _ := page(t, d, "tab=tasks&filter="+strings.ReplaceAll(c, "=", "%3D"))
		if there.Filter.Error != "" || there.Tasks.Table.Total == 0 || there.Tasks.Table.Total >= p.Tasks.Table.Total {
			t.Errorf("%s: %d tasks, %s", c, there.Tasks.Table.Total, there.Filter.Error)
		}
	}
	if got := stat(p, "task.count"); got != strconv.Itoa(p.Tasks.Table.Total) {
		t.Errorf("task.count is %s", got)
	}
}
