package view

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/search"
	"github.com/rollscope/rollscope/core/synth"
)

// searchedRun opens files on a desk and reads them.
func searchedRun(t testing.TB, data map[string][]byte, names ...string) *Desk {
	t.Helper()
	d := new(Desk)
	var files []runfolder.File
	for _, name := range names {
		files = append(files, runfolder.File{Path: name, Size: int64(len(data[name]))})
	}
	for _, task := range d.Open(files, false) {
		scan := analysis.NewScan(task.Source, 0, task.Size, 0).Keep(analysis.All)
		scan.Feed(data[d.files[task.File].Path])
		scan.Finish()
		if err := d.Add(scan.Take()); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// searchOn runs the search of a State as scanners do, in pieces of any order, looking in between.
func searchOn(t testing.TB, d *Desk, data map[string][]byte, s State, rng *rand.Rand, look func()) {
	t.Helper()
	for range 10_000 {
		a := d.Asking(s)
		if a == nil {
			return
		}
		if a.Search == nil {
			t.Fatalf("%+v is no search", a)
		}
		by, err := search.New(*a.Search)
		if err != nil || fmt.Sprintf("%x", by.Number()) != a.ID {
			t.Fatalf("scanners look for something else than %s: %v", a.ID, err)
		}
		task := a.Tasks[rng.IntN(len(a.Tasks))]
		from := task.From
		if rng.IntN(2) == 0 {
			from += rng.Int64N(task.To - task.From)
		}
		file := data[d.files[task.File].Path]
		scan := analysis.NewScan(task.Source, from, min(from+1+rng.Int64N(60_000), task.To), 0).Ask(by.Number(), by)
		if scan.Feed(file[min(scan.Next(), int64(len(file))):]); !scan.Done() {
			scan.Finish()
		}
		if err := d.Add(scan.Take()); err != nil {
			t.Fatal(err)
		}
		if look != nil {
			look()
		}
	}
	t.Fatal("the search goes on and on")
}

// plainHits finds the hits of the rows of files without a desk: by place.
func plainHits(t testing.TB, o search.Options, data map[string][]byte, names ...string) (hits map[string][]search.Hit, total int) {
	t.Helper()
	s, err := search.New(o)
	if err != nil {
		t.Fatal(err)
	}
	hits = map[string][]search.Hit{}
	f := s.Finder()
	var reader rollout.Reader
	for _, name := range names {
		for i, line := range bytes.Split(data[name], []byte("\n")) {
			row := reader.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
			place := fmt.Sprintf("%s:%d", name, i+1)
			f.Row(row, func(h *search.Hit) bool {
				hits[place] = append(hits[place], *h)
				total++
				return true
			})
		}
	}
	return hits, total
}

// runData are two rollouts files.
func runData(t testing.TB) (data map[string][]byte, names []string) {
	t.Helper()
	data = map[string][]byte{"a/rollouts.jsonl": synth.Sample()[0].Data}
	b, err := os.ReadFile("../../testdata/health/s05-failed-calls/input/rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	data["b/rollouts.jsonl"] = b
	return data, []string{"a/rollouts.jsonl", "b/rollouts.jsonl"}
}

var searchStates = []string{
	"search=the", "search=The&set=search.case%3D1", "search=e&set=search.in%3Dmessage%2Btool_result", "search=%5Cb%5Bst%5D%5Cw%2B%24&set=search.as%3Dregexp",
	"search=call_&set=search.in%3Dall", "search=nobody+says+this",
}

// TestSearchAll searches in parts of any order and wants what a plain search finds: the counts, and every row of the table.
func TestSearchAll(t *testing.T) {
	data, names := runData(t)
	rng := rand.New(rand.NewPCG(5, 6))
	d := searchedRun(t, data, names...)
	for _, text := range searchStates {
		s, odd := Decode("tab=search&" + text)
		if len(odd) > 0 {
			t.Fatal(odd)
		}
		want, total := plainHits(t, searchOptions(s), data, names...)
		before := 0
		searchOn(t, d, data, s, rng, func() {
			v := pageOf(t, d, data, s).Searched
			now, err := strconv.Atoi(factOf(v.Facts, "search.hits"))
			if err != nil || now < before || len(v.Acts) == 1 && v.Acts[0].Name != "search-off" || !strings.Contains(v.Note, "scanning") && d.Asking(s) != nil {
				t.Fatalf("%s: %d hits after %d, %q, %v", text, now, before, v.Note, v.Acts)
			}
			before = now
		})
		p := pageOf(t, d, data, s)
		v := p.Searched
		if got := factOf(v.Facts, "search.hits") + " " + factOf(v.Facts, "search.rollouts") + " " + factOf(v.Facts, "search.shown") + " " + factOf(v.Facts, "search.percent"); got != fmt.Sprintf("%d %d %d 100", total, len(want), len(want)) {
			t.Errorf("%s: %s, want %d hits in %d rollouts", text, got, total, len(want))
		}
		if p.Phase != Ready && !d.AuditPending() || len(v.Acts) > 0 {
			t.Errorf("%s: phase %s, %v", text, p.Phase, v.Acts)
		}
		lines := 0
		for _, hits := range want {
			lines += min(len(hits), hitsKept+1)
		}
		if v.Table.Total != lines {
			t.Errorf("%s: %d rows of the table, want %d", text, v.Table.Total, lines)
		}
		// Every row in its window.
		seen := map[string]int{}
		for from := 0; from < lines; from += 7 {
			table, _, err := d.Window(s, "hits", from, from+7)
			if err != nil || table.From != from || len(table.Rows) != min(7, lines-from) {
				t.Fatalf("%s: rows %d from %d: %v", text, len(table.Rows), table.From, err)
			}
			for n, row := range table.Rows {
				hits := want[row.Rollout]
				k := seen[row.Rollout]
				seen[row.Rollout]++
				cell := row.Cells[len(row.Cells)-1]
				if row.Index != from+n || k > len(hits) {
					t.Fatalf("%s: row %d is the hit %d of %d in %s", text, row.Index, k, len(hits), row.Rollout)
				}
				if k == hitsKept {
					if left := fmt.Sprintf("and %s more in this rollout", Group(len(hits)-k)); cell.Text.Text != left {
						t.Errorf("%s: %q, want %q", text, cell.Text.Text, left)
					}
					continue
				}
				h := hits[k]
				if len(cell.Hits) != 1 || cell.Text.Text[cell.Hits[0].From:cell.Hits[0].To] != h.Match || cell.Exact != h.Before+h.Match+h.After {
					t.Errorf("%s: %+v is not %+v", text, cell, h)
				}
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%s: rows of %d rollouts, want %d", text, len(seen), len(want))
		}
	}
	if d.Asking(State{Tab: searchTab, Search: "the"}) == nil {
		t.Error("the answers of an old search are still there")
	}
}

// TestSearchAndFilter narrows the table down by the filter of the page, which asks nothing of the files.
func TestSearchAndFilter(t *testing.T) {
	data, names := runData(t)
	d := searchedRun(t, data, names...)
	s := State{Tab: searchTab, Search: "the"}
	searchOn(t, d, data, s, rand.New(rand.NewPCG(1, 1)), nil)
	all, _ := plainHits(t, searchOptions(s), data, names...)
	for _, filter := range []string{"reward=1", "verdict:unhealthy", "agent:nobody"} {
		s.Filter = filter
		if a := d.Asking(s); a != nil {
			t.Fatalf("%s: %+v", filter, a)
		}
		c := d.choose(s)
		found := d.filter(c, s)
		want, hits := 0, 0
		for n := range found.len(c) {
			i, _ := c.item(found.at(c, n))
			if k := len(all[i.place()]); k > 0 {
				want++
				hits += k
			}
		}
		v := pageOf(t, d, data, s).Searched
		if got := factOf(v.Facts, "search.shown"); got != fmt.Sprint(want) || factOf(v.Facts, "search.rollouts") != fmt.Sprint(len(all)) || v.Facts[2].Note.Text != fmt.Sprintf("of %d rollouts, %s", len(all), count(hits, "hit", "hits")) {
			t.Errorf("%s: %s shown, %+v", filter, got, v.Facts)
		}
		if want == 0 && (v.Table.Empty != "No rollout with hits fits the filter." || len(v.Remarks) == 0 || decoded(t, v.Remarks[len(v.Remarks)-1].Href).Filter != "") {
			t.Errorf("%s: %q %+v", filter, v.Table.Empty, v.Remarks)
		}
	}
}

// TestSearchStates are the other states of the view: nothing looked for, a pattern that cannot be, cancelled, while
// files are read.
func TestSearchStates(t *testing.T) {
	data, names := runData(t)
	d := searchedRun(t, data, names...)
	if v := pageOf(t, d, data, State{Tab: searchTab}).Searched; v.Table != nil || len(v.Help) == 0 || d.Asking(State{Tab: searchTab}) != nil {
		t.Errorf("%+v", v)
	}
	wrong := State{Tab: searchTab, Search: "é(a", Set: []Setting{{searchAs, "regexp"}}}
	if v := pageOf(t, d, data, wrong).Searched; v.Box.Error != "missing closing )" || v.Box.ErrorAt != 1 || v.Table != nil || d.Asking(wrong) != nil {
		t.Errorf("%+v", v)
	}
	long := State{Tab: searchTab, Search: strings.Repeat("a", search.MaxPattern+1)}
	if v := pageOf(t, d, data, long).Searched; v.Box.Error == "" || v.Box.ErrorAt != -1 {
		t.Errorf("%+v", v.Box)
	}
	s := State{Tab: searchTab, Search: "the"}
	id := d.Asking(s).ID
	for _, c := range []struct {
		host  Host
		note  string
		act   string
		empty string
	}{
		{Host{}, "0 hits in 0 rollouts · scanning 0 %", "search-off", "Nothing found so far."},
		{Host{Stopped: id}, "0 hits in 0 rollouts, cancelled at 0 %", "search-on", "Nothing found so far."},
		{Host{Stopped: "1"}, "0 hits in 0 rollouts · scanning 0 %", "search-off", "Nothing found so far."},
		{Host{Reading: true}, "0 hits in 0 rollouts so far · waits for the files to be read", "", "Nothing found so far."},
		{Host{Unasked: "a: gone"}, "0 hits in 0 rollouts so far · ended at 0 %", "", "Nothing found so far."},
	} {
		p, _ := d.Page(s, c.host, nil)
		v, act := p.Searched, ""
		if len(v.Acts) > 0 {
			act = v.Acts[0].Name
		}
		if v.Note != c.note || act != c.act || v.Table.Empty != c.empty {
			t.Errorf("%+v: %q %q %q", c.host, v.Note, act, v.Table.Empty)
		}
	}
	if _, odd := d.Read("tab=search&search=a&columns=text,bogus", Host{}); len(odd) != 1 {
		t.Errorf("%q", odd)
	}
	// What is beyond the bound is counted, not kept.
	searchOn(t, d, data, s, rand.New(rand.NewPCG(2, 2)), func() { d.searched.kept = hitBytesKept + 1 })
	v := pageOf(t, d, data, s).Searched
	_, total := plainHits(t, searchOptions(s), data, names...)
	if factOf(v.Facts, "search.hits") != fmt.Sprint(total) || !strings.Contains(v.Remarks[1].Text, "only counted") {
		t.Errorf("%+v %+v", v.Facts, v.Remarks)
	}
	if last, _, err := d.Window(s, "hits", v.Table.Total-1, v.Table.Total); err != nil || !strings.HasSuffix(last.Rows[0].Cells[4].Text.Text, "not kept") || decoded(t, last.Rows[0].Href).Hit != 1 {
		t.Errorf("%+v %v", last.Rows, err)
	}
}

func TestSearchingIn(t *testing.T) {
	s := State{}
	for _, step := range [][2]string{{"reasoning", "reasoning"}, {"message", "message+reasoning"}, {"all", "all"}, {"tool_call", "tool_call"}, {"tool_result", "tool_call+tool_result"}, {"tool_call", "tool_result"},
		{"tool_result", ""}, {"all", "all"}, {"all", ""}} {
		if s = searchingIn(s, step[0]); s.Setting(searchIn) != step[1] {
			t.Fatalf("%s leads to %q, want %q", step[0], s.Setting(searchIn), step[1])
		}
	}
	for _, p := range searchParts {
		s = searchingIn(s, p.name)
	}
	if s.Setting(searchIn) != "" {
		t.Errorf("all parts are %q", s.Setting(searchIn))
	}
}

// TestHitsInPlace opens the page of a rollout at every one of its hits: it is marked there, as what was found.
func TestHitsInPlace(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"../../testdata/health/s0[1256]*/input/rollouts.jsonl", "../../testdata/health/[bhmp]*/input/*.jsonl"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	data := map[string][]byte{"sample/rollouts.jsonl": synth.Sample()[0].Data}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		data[path.Base(path.Dir(path.Dir(p)))+"/rollouts.jsonl"] = b
	}
	exact, laidOut := 0, 0
	for name := range data {
		d := searchedRun(t, data, name)
		for _, text := range searchStates {
			s, _ := Decode("tab=search&" + text)
			all, _ := plainHits(t, searchOptions(s), data, name)
			d.search(s) // the links of its hits are those of the table
			pages := 0
			for place, hits := range all {
				for k := 0; k < len(hits) && pages < 60; k += 1 + len(hits)/8 {
					pages++
					h := &hits[k]
					at := decoded(t, toHit(s, strings.TrimPrefix(place, path.Dir(name)+"/"), k, h))
					p := pageOf(t, d, data, at)
					if p.Rollout.Hits == nil || !strings.HasPrefix(p.Rollout.Hits.Found, Group(k+1)+" of "+Group(len(hits))) && at.Part == "" {
						t.Fatalf("%s: %s: hit %d of %d: %+v", place, text, k+1, len(hits), p.Rollout.Hits)
					}
					if at.Part == "raw" {
						if p.Rollout.Raw == nil || !strings.HasPrefix(p.Target, "line-") {
							t.Errorf("%s: %s: the hit %+v is not in sight in the JSON: %q", place, text, h, p.Target)
						}
						continue
					}
					mark, block := nowIn(p.Rollout.Blocks)
					switch {
					case mark == h.Match && p.Target == hitID(k):
						exact++
					case strings.HasPrefix(p.Target, "hit-") || strings.HasPrefix(p.Target, "at-"):
						laidOut++ // arguments or results that are laid out anew
					default:
						t.Errorf("%s: %s: the hit %+v is not in sight: %q in %+v, target %q", place, text, h, mark, block, p.Target)
					}
				}
			}
		}
	}
	if t.Logf("%d hits marked as found, %d in texts that are laid out", exact, laidOut); exact < 500 || laidOut > exact/10 {
		t.Error("too few are marked")
	}
}

// nowIn is the marked text that the page stands at.
func nowIn(list []Block) (string, *Block) {
	for i := range list {
		for _, h := range list[i].Hits {
			if h.Now {
				return list[i].Text[h.From:h.To], &list[i]
			}
		}
		if text, block := nowIn(list[i].Children); block != nil {
			return text, block
		}
	}
	return "", nil
}

// TestHitBeyondTheFold shows the part of a long text that a hit stands in, and counts the others.
func TestHitBeyondTheFold(t *testing.T) {
	long := strings.Repeat("words and words ", 40_000)
	line := fmt.Sprintf(`{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"output":[{"type":"message","role":"assistant","content":"needle %s needle %s needle"}]}}`+"\n", long[:3000], long)
	data := map[string][]byte{"rollouts.jsonl": []byte(line)}
	d := searchedRun(t, data, "rollouts.jsonl")
	for hit, want := range []struct{ before, marks, hidden int }{{0, 1, 2}, {0, 1, 2}, {0, 2, 1}, {3000 + 16 + 640_000 - longText/4, 1, 2}} {
		p := pageOf(t, d, data, State{Rollout: "rollouts.jsonl:1", Search: "needle", Hit: hit})
		var b *Block
		for i := range p.Rollout.Blocks {
			for k := range p.Rollout.Blocks[i].Children {
				for n := range p.Rollout.Blocks[i].Children[k].Children {
					b = &p.Rollout.Blocks[i].Children[k].Children[n]
				}
			}
		}
		if b == nil || len(b.Hits) != want.marks || b.Hidden != want.hidden || b.Before < want.before || b.Before > want.before+20 {
			t.Errorf("at hit %d: %d marks, %d hidden, %d before, %d folded", hit, len(b.Hits), b.Hidden, b.Before, b.Folded)
		}
		if text, _ := nowIn(p.Rollout.Blocks); (hit > 0) != (text == "needle") {
			t.Errorf("the page stands at %q", text)
		}
	}
}
