package view

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/search"
	"github.com/rollscope/rollscope/core/synth"
)

// growing is a list of files of which a part has been written so far.
type growing struct {
	t     *testing.T
	rng   *rand.Rand
	files []runfolder.File // as they will be
	whole map[string][]byte
	shown int               // how many of them there are
	data  map[string][]byte // as it is now
}

// cut gives a place in a file: often its end, in front of, behind or inside a line end, or inside a character.
func (g *growing) cut(b []byte, from int) int {
	if from >= len(b) || g.rng.IntN(6) == 0 {
		return len(b)
	}
	at := from + g.rng.IntN(len(b)-from+1)
	switch g.rng.IntN(4) {
	case 0:
		if end := bytes.IndexByte(b[at:], '\n'); end >= 0 {
			return at + end + g.rng.IntN(2)
		}
	case 1:
		if wide := bytes.IndexFunc(b[at:], func(r rune) bool { return r > 127 }); wide >= 0 {
			return min(at+wide+1, len(b))
		}
	}
	return at
}

func (g *growing) now() []runfolder.File {
	list := slices.Clone(g.files[:g.shown])
	for i := range list {
		list[i].Size = int64(len(g.data[list[i].Path]))
	}
	return list
}

// packs tells whether a file is packed, which no prefix of it is.
func packs(path string) bool { return strings.HasSuffix(path, ".gz") }

// step brings a desk to the files as they are, in pieces.
func (g *growing) step(d *Desk, changes []Change, added []runfolder.File) {
	g.t.Helper()
	before := d.Rows()
	tasks, _, err := d.Grow(changes, added)
	if err != nil {
		g.t.Fatal(err)
	}
	g.rng.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	for _, task := range tasks {
		file := g.data[g.files[task.File].Path]
		take := func(s *analysis.Scan) {
			p, err := analysis.ParsePartial(s.Take().AppendBinary(nil))
			if err != nil {
				g.t.Fatal(err)
			}
			if err := d.Add(p); err != nil {
				g.t.Fatal(err)
			}
		}
		if task.Packed {
			scan := analysis.NewPackedScan(task.Source, 0, -1, 0).Keep(analysis.All)
			scan.Feed(file)
			scan.Finish()
			take(scan)
			continue
		}
		for from := task.From; from < task.To; {
			to := min(from+1+g.rng.Int64N(task.To-from), task.To)
			scan := analysis.NewScan(task.Source, from, to, 0).Keep(analysis.All)
			if scan.Feed(file[scan.Next():]); !scan.Done() {
				scan.Finish()
			}
			take(scan)
			from = to
		}
	}
	if d.Rows() != before {
		g.t.Fatal("rows are shown that nobody has compared")
	}
	for range 100_000 {
		needs, done, err := d.Grown()
		if err != nil {
			g.t.Fatal(err)
		}
		if done {
			_, rows, err := d.Step(State{})
			if err != nil || d.Rows() != before+rows {
				g.t.Fatalf("%d rows, and %d more, are %d: %v", before, rows, d.Rows(), err)
			}
			return
		}
		for _, n := range needs {
			d.Supply(n, g.bytes(n), "")
		}
	}
	g.t.Fatal("the step goes on and on")
}

// bytes are those of a Need, unpacked where the file is packed.
func (g *growing) bytes(n Need) []byte {
	path := g.files[n.File].Path
	b := g.data[path]
	if packs(path) {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			g.t.Fatal(err)
		}
		b, _ = io.ReadAll(r) // up to where it is cut
	}
	return bytes.Clone(b[n.Offset : n.Offset+n.Length])
}

// show makes the page of a fragment with all that it needs and asks.
func (g *growing) show(d *Desk, fragment string) *Page {
	g.t.Helper()
	s, _ := d.Read(fragment, Host{})
	for range 50 {
		p, needs := d.Page(s, Host{}, nil)
		for _, n := range needs {
			d.Supply(n, g.bytes(n), "")
		}
		if len(needs) > 0 {
			continue
		}
		a := d.Asking(s)
		if a == nil {
			return p
		}
		for _, task := range a.Tasks {
			begin := analysis.NewScan
			to, file := task.To, g.data[g.files[task.File].Path]
			if task.Packed {
				begin = analysis.NewPackedScan
			}
			scan := begin(task.Source, task.From, to, 0)
			if a.Search != nil {
				by, err := search.New(*a.Search)
				if err != nil {
					g.t.Fatal(err)
				}
				scan.Ask(by.Number(), by)
			} else if probe := ProbeByID(a.Probe); probe != nil {
				scan.Ask(probe.Number(), probe.Mapper())
			} else {
				q, err := Ask(a.Filter)
				if err != nil {
					g.t.Fatal(err)
				}
				scan.Ask(q.Number(), analysis.RowMapper(q))
			}
			if scan.Feed(file[scan.Next():]); !scan.Done() {
				scan.Finish()
			}
			if err := d.Add(scan.Take()); err != nil {
				g.t.Fatal(err)
			}
		}
	}
	g.t.Fatalf("%s asks more and more", fragment)
	return nil
}

// fresh opens the files as they are.
func (g *growing) fresh() *Desk {
	d := new(Desk)
	files := g.now()
	for _, task := range d.Open(files, false) {
		begin, to := analysis.NewScan, task.Size
		if task.Packed {
			begin, to = analysis.NewPackedScan, -1
		}
		scan := begin(task.Source, 0, to, 0).Keep(analysis.All)
		scan.Feed(g.data[files[task.File].Path])
		scan.Finish()
		if err := d.Add(scan.Take()); err != nil {
			g.t.Fatal(err)
		}
	}
	auditAll(g.t, d, g.data)
	return d
}

// fragments are views of everything that is there.
func fragments(d *Desk) []string {
	list := []string{"", "tab=rollouts&sort=-bytes", "tab=rollouts&filter=verdict:unhealthy", "tab=files",
		"tab=rollouts&filter=row.n%3D1%20or%20row._ng_task_index%3E%3D0", "tab=rollouts&filter=reward%3E0", "tab=health&profile=main",
		"tab=scores&set=scores.by:agent_ref.name", "tab=search&search=done", "tab=search&search=o&set=search.in%3Dall"}
	for _, t := range Tabs {
		list = append(list, "tab="+t.ID)
	}
	for _, at := range []int{0, int(d.Rows()) - 1} {
		if row, ok := d.table.Row(at); ok {
			place := "tab=rollouts&rollout=" + escape(placeOf(d.table, &row))
			list = append(list, place, place+"&part=raw", place+"&part=calls", place+"&part=attempts")
		}
	}
	return list
}

// differs names the first difference of two values that should be alike.
func differs(path string, a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() {
		return path
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprint(path, ": nil ", a.IsNil(), " ", b.IsNil())
			}
			return ""
		}
		return differs(path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if d := differs(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice, reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if d := differs(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		if a.Len() != b.Len() {
			return fmt.Sprint(path, ": length ", a.Len(), " ", b.Len())
		}
		return ""
	}
	if x, y := fmt.Sprintf("%v", a), fmt.Sprintf("%v", b); x != y {
		return path + ": " + x + " is not " + y
	}
	return ""
}

// agree holds the pages of a desk that has followed the files against those of one that opens them.
func (g *growing) agree(d *Desk, name string) {
	g.t.Helper()
	fresh := g.fresh()
	list := fragments(fresh)
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, fragment := range list[:len(list)/3] {
		got, want := g.show(d, fragment), g.show(fresh, fragment)
		if !reflect.DeepEqual(got, want) {
			if difference := differs("", reflect.ValueOf(got), reflect.ValueOf(want)); difference != "" {
				g.t.Fatalf("%s: #%s: followed and opened: %s", name, fragment, difference)
			}
		}
	}
}

// grownFolders are run folders of all kinds.
func grownFolders(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"runs/*/*", "cases/*", "harness/*", "resume/*"} {
		dirs, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			packed, err := filepath.Glob(dir + "/*.gz") // megabytes of them, TestGrowPacked has its own
			if info, no := os.Stat(dir); err == nil && no == nil && info.IsDir() && len(packed) == 0 {
				list = append(list, dir)
			}
		}
	}
	if len(list) < 50 {
		t.Fatalf("%d folders", len(list))
	}
	return list
}

// TestGrow lets the files of every folder grow in random steps, cut wherever, with files that come later, and wants
// after each step every page as it is when the files are opened then.
func TestGrow(t *testing.T) {
	for n, dir := range grownFolders(t) {
		files, whole := folder(t, dir)
		if len(files) == 0 || n%3 > 0 {
			continue
		}
		g := &growing{t: t, rng: rand.New(rand.NewPCG(31, uint64(n))), files: files, whole: whole, data: map[string][]byte{}}
		if g.rng.IntN(3) == 0 {
			for path, b := range whole {
				if strings.HasSuffix(path, ".jsonl") {
					whole[path] = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
				}
			}
		}
		g.rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		g.shown = 1 + g.rng.IntN(len(files))
		for _, f := range files[:g.shown] {
			g.data[f.Path] = whole[f.Path][:g.cut(whole[f.Path], 0)]
		}
		d := g.fresh()
		g.agree(d, dir)
		const steps = 3
		for step := range steps {
			var changes []Change
			for i, f := range files[:g.shown] {
				b, have := whole[f.Path], len(g.data[f.Path])
				to := g.cut(b, have)
				if step == steps-1 {
					to = len(b)
				}
				if to == have && g.rng.IntN(3) > 0 {
					continue
				}
				g.data[f.Path] = b[:to]
				changes = append(changes, Change{File: i, Size: int64(to)})
			}
			before := g.shown
			if g.shown += g.rng.IntN(len(files) - g.shown + 1); step == steps-1 {
				g.shown = len(files)
			}
			for _, f := range files[before:g.shown] {
				g.data[f.Path] = whole[f.Path][:g.cut(whole[f.Path], 0)]
			}
			g.step(d, changes, g.now()[before:])
			g.agree(d, fmt.Sprint(dir, ", step ", step))
		}
	}
}

// TestRenew has files replaced, cut and emptied.
func TestRenew(t *testing.T) {
	for n, dir := range grownFolders(t) {
		files, whole := folder(t, dir)
		if len(files) == 0 || n%8 > 0 {
			continue
		}
		g := &growing{t: t, rng: rand.New(rand.NewPCG(32, uint64(n))), files: files, whole: whole, data: map[string][]byte{}, shown: len(files)}
		for _, f := range files {
			g.data[f.Path] = whole[f.Path]
		}
		d := g.fresh()
		for step := range 2 {
			g.agree(d, dir)
			var changes []Change
			for i, f := range files {
				b := whole[files[g.rng.IntN(len(files))].Path]
				switch g.rng.IntN(4) {
				case 0:
					continue
				case 1:
					b = g.data[f.Path][:g.cut(g.data[f.Path], 0)]
				}
				g.data[f.Path] = b
				changes = append(changes, Change{File: i, Size: int64(len(b)), Anew: true})
			}
			g.step(d, changes, nil)
			g.agree(d, fmt.Sprint(dir, ", step ", step))
		}
	}
}

// TestGrowPacked lets a packed file grow, by members and inside them: it is read from its start each time.
func TestGrowPacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 40))
	var b bytes.Buffer
	var ends []int
	for range 3 {
		w := gzip.NewWriter(&b)
		if _, err := w.Write(rowsFile(rng, 20)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, b.Len())
	}
	const name = "rollouts.jsonl.gz"
	g := &growing{t: t, rng: rng, files: []runfolder.File{{Path: name}}, shown: 1, data: map[string][]byte{name: b.Bytes()[:ends[0]]}}
	d := g.fresh()
	for _, to := range []int{ends[1] - 300, ends[1], ends[2]} {
		g.agree(d, "packed")
		g.data[name] = b.Bytes()[:to]
		_, anew, err := d.Grow([]Change{{File: 0, Size: int64(to)}}, nil)
		if err != nil || !slices.Equal(anew, []int{0}) {
			t.Fatal(anew, err)
		}
		g.step(d, []Change{{File: 0, Size: int64(to)}}, nil)
	}
	g.agree(d, "packed")
}

// TestGrowAsks wants second scans to ask what is new and nothing else.
func TestGrowAsks(t *testing.T) {
	const name = "rollouts.jsonl"
	b := synth.Sample()[0].Data
	part := b[:len(b)/2]
	ended := bytes.LastIndexByte(part, '\n') + 1
	g := &growing{t: t, rng: rand.New(rand.NewPCG(33, 34)), files: []runfolder.File{{Path: name}}, shown: 1, data: map[string][]byte{name: part}}
	d := g.fresh()
	fragment := "tab=rollouts&filter=" + escape("row.response.id != 7")
	g.show(d, fragment)
	g.show(d, "tab=calls")
	g.show(d, "tab=search&search=the")
	g.data[name] = b
	g.step(d, []Change{{File: 0, Size: int64(len(b))}}, nil)
	for _, fragment := range []string{fragment, "tab=calls", "tab=search&search=the"} {
		s, _ := d.Read(fragment, Host{})
		a := d.Asking(s)
		if a == nil {
			t.Fatalf("%s asks nothing", fragment)
		}
		if len(a.Tasks) != 1 || a.Tasks[0].From != int64(ended) || a.Tasks[0].To != int64(len(b)) {
			t.Errorf("%s asks %+v of %d bytes, of which %d had been asked", fragment, a.Tasks, len(b), ended)
		}
	}
}

// TestGrowLeft gives a step up, which nobody sees.
func TestGrowLeft(t *testing.T) {
	whole := map[string][]byte{"rollouts.jsonl": rowsFile(rand.New(rand.NewPCG(35, 36)), 20)}
	b := whole["rollouts.jsonl"]
	g := &growing{t: t, rng: rand.New(rand.NewPCG(37, 38)), files: []runfolder.File{{Path: "rollouts.jsonl"}, {Path: "rollouts_failures.jsonl"}},
		whole: whole, shown: 1, data: map[string][]byte{"rollouts.jsonl": b[:len(b)-30]}}
	d := g.fresh()
	before, err := json.Marshal(g.show(d, "tab=rollouts"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		tasks, anew, err := d.Grow([]Change{{File: 0, Size: int64(len(b))}}, []runfolder.File{{Path: "rollouts_failures.jsonl", Size: 3}})
		if err != nil || len(tasks) != 1 || len(anew) != 0 {
			t.Fatal(tasks, anew, err)
		}
		if _, _, err := d.Grown(); err == nil {
			t.Error("a step is done that was not read")
		}
		if _, _, err := d.Step(State{}); err == nil {
			t.Error("a step is taken that was not read")
		}
	}
	d.Still()
	if _, _, err := d.Grown(); err == nil {
		t.Error("a step is done that was given up")
	}
	after, err := json.Marshal(g.show(d, "tab=rollouts"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v: a step that was given up has left something", err)
	}
	for _, c := range [][]Change{{{File: 1, Size: 1}}, {{File: -1}}, {{File: 0, Size: -1}}} {
		if _, _, err := d.Grow(c, nil); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if _, _, err := new(Desk).Grow(nil, nil); err == nil {
		t.Error("nothing grows")
	}
	g.data["rollouts.jsonl"] = b
	g.step(d, []Change{{File: 0, Size: int64(len(b))}}, nil)
	g.agree(d, "after all")
}
