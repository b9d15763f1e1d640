package analysis

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/source"
)

// odd is a file with every kind of line end and damage.
const odd = "\n" +
	`{"_ng_task_index":0,"reward":1}` + "\r\n" +
	" \t\r\n" +
	`{"_ng_task_index":1,"text":"` + "\u2028 é🙂" + `"}` + "\n" +
	"\n\n" +
	`{"cut":` + "\n" +
	"\xff\xfe\n" +
	`[1]` + "\n" +
	`{}` + "\v\n" +
	`{"_ng_task_index":"a"` // no line end: torn

func scan(t *testing.T, data []byte, from, to int64, chunk int) *Partial {
	t.Helper()
	s := NewScan(0, from, to, 0)
	for !s.Done() {
		at := s.Next()
		if at >= int64(len(data)) {
			s.Finish()
			break
		}
		s.Feed(data[at:min(at+int64(chunk), int64(len(data)))])
	}
	return s.Take()
}

// reports makes both reports of a table.
func reports(t *testing.T, table *Table) []byte {
	t.Helper()
	r, err := health.NewReducer(health.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table.Each(0, func(row *Row) bool {
		d, err := row.Digest()
		if err != nil {
			t.Fatal(err)
		}
		err = r.Add(&health.Row{Source: row.Source, Name: table.Name(row.Source), Line: row.Line, Ordinal: row.Ordinal, Identity: d.Identity, Digest: d.Health})
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
	report, err := r.Report()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	summary, err := report.SummaryJSON()
	if err != nil {
		t.Fatal(err)
	}
	b.Write(summary)
	if err := report.WriteVerdicts(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func single(size int) *Table { return NewTable([]string{"a.jsonl"}, []int64{int64(size)}) }

func TestAccounting(t *testing.T) {
	table := single(len(odd))
	if err := table.Add(scan(t, []byte(odd), 0, int64(len(odd)), 7)); err != nil {
		t.Fatal(err)
	}
	a := table.Total()
	want := Account{Lines: 11, Read: 3, Blank: 4, Unreadable: 4, Torn: 1, Repaired: 1, Recoverable: 1}
	want.ReadBytes, want.BlankBytes, want.UnreadableBytes = a.ReadBytes, a.BlankBytes, a.UnreadableBytes
	if a != want {
		t.Errorf("got %+v", a)
	}
	if a.Bytes() != int64(len(odd)) || a.Read+a.Blank+a.Unreadable != a.Lines {
		t.Errorf("%d bytes of %d, %d+%d+%d of %d lines", a.Bytes(), len(odd), a.Read, a.Blank, a.Unreadable, a.Lines)
	}
	if !table.Complete() || table.Rows() != 7 {
		t.Errorf("complete %t, %d rows", table.Complete(), table.Rows())
	}
	var lines []int64
	table.Each(0, func(r *Row) bool {
		lines = append(lines, r.Line)
		if n, ok := table.Find(0, r.Line); !ok || n != int(r.Ordinal) {
			t.Errorf("line %d is found as %d, %t", r.Line, n, ok)
		}
		if row, ok := table.Row(int(r.Ordinal)); !ok || row.Offset != r.Offset || row.Line != r.Line {
			t.Errorf("row %d is %+v", r.Ordinal, row)
		}
		return true
	})
	if want := []int64{2, 4, 7, 8, 9, 10, 11}; !slices.Equal(lines, want) {
		t.Errorf("rows at lines %v", lines)
	}
	if _, ok := table.Find(0, 3); ok {
		t.Error("a blank line was found")
	}
}

// golden gives the inputs of the health cases, by name.
func golden(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"odd": []byte(odd), "empty": {}, "one": []byte("{}"), "blank": []byte(" \n\n")}
	paths, err := filepath.Glob("../../testdata/health/s*/input/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden inputs: %v", err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains([]byte(p), []byte("s12-identities")) && filepath.Base(p) != "rollouts.jsonl" {
			continue // refused as a whole
		}
		files[p] = b
	}
	return files
}

// TestSplits cuts every golden input anywhere, also inside characters and line ends and into empty ranges,
// adds the parts in any order, with and without a trip through the binary form, and wants the same bytes.
func TestSplits(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	files := golden(t)
	rounds := 1200/len(files) + 1
	splits := 0
	for name, data := range files {
		whole := single(len(data))
		if err := whole.Add(scan(t, data, 0, int64(len(data)), 1<<20)); err != nil {
			t.Fatal(name, err)
		}
		want := reports(t, whole)
		for range rounds {
			splits++
			cuts := []int64{0, int64(len(data))}
			for range rng.IntN(6) {
				cuts = append(cuts, rng.Int64N(int64(len(data))+1))
			}
			if at := bytes.IndexByte(data, '\n'); at > 0 && rng.IntN(2) == 0 {
				cuts = append(cuts, int64(at), int64(at), int64(at)+1)
			}
			slices.Sort(cuts)
			var parts []*Partial
			for i := 1; i < len(cuts); i++ {
				p := scan(t, data, cuts[i-1], cuts[i], 1+rng.IntN(5000))
				if rng.IntN(2) == 0 {
					var err error
					if p, err = ParsePartial(p.AppendBinary(nil)); err != nil {
						t.Fatal(name, err)
					}
				}
				parts = append(parts, p)
			}
			if rng.IntN(2) == 0 && len(parts) > 1 {
				i := rng.IntN(len(parts) - 1)
				p, err := Merge(parts[i], parts[i+1])
				if err != nil {
					t.Fatal(name, err)
				}
				parts = slices.Replace(parts, i, i+2, p)
			}
			rng.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
			table := single(len(data))
			for _, p := range parts {
				if err := table.Add(p); err != nil {
					t.Fatal(name, cuts, err)
				}
			}
			if table.Total().Bytes() != int64(len(data)) {
				t.Fatalf("%s: cuts %v account for %d of %d bytes", name, cuts, table.Total().Bytes(), len(data))
			}
			if got := reports(t, table); !bytes.Equal(got, want) {
				t.Fatalf("%s: cuts %v give other reports", name, cuts)
			}
		}
	}
	t.Logf("%d splits of %d files", splits, len(files))
	if splits < 1000 {
		t.Errorf("only %d splits", splits)
	}
}

// TestTake takes what is there after every piece and wants the same bytes.
func TestTake(t *testing.T) {
	data := []byte(odd)
	whole := single(len(data))
	whole.Add(scan(t, data, 0, int64(len(data)), 1000))
	want := reports(t, whole)
	for _, from := range []int64{0, 40} {
		table := single(len(data))
		if from > 0 {
			table.Add(scan(t, data, 0, from, 3))
		}
		s := NewScan(0, from, int64(len(data)), 0)
		for !s.Done() {
			at := s.Next()
			if at >= int64(len(data)) {
				s.Finish()
				break
			}
			s.Feed(data[at : at+1])
			if err := table.Add(s.Take()); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Add(s.Take()); err != nil {
			t.Fatal(err)
		}
		if got := reports(t, table); !bytes.Equal(got, want) || !table.Complete() {
			t.Errorf("from %d: other reports, complete %t", from, table.Complete())
		}
	}
}

func TestRead(t *testing.T) {
	var sources []source.Source
	var names []string
	files := golden(t)
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		sources = append(sources, source.Bytes(name, files[name]))
	}
	var want []byte
	for _, workers := range []int{1, 2, 8} {
		for _, block := range []int64{0, 999, 70_000} {
			var bytesRead int64
			table, err := Read(context.Background(), sources, Options{Workers: workers, Block: block, Progress: func(b, _ int64) { bytesRead = b }})
			if err != nil {
				t.Fatal(err)
			}
			got := reports(t, table)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d workers and blocks of %d give other reports", workers, block)
			}
			if bytesRead != table.Total().Bytes() {
				t.Errorf("progress ends at %d of %d bytes", bytesRead, table.Total().Bytes())
			}
		}
	}
}

func TestReadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, []source.Source{source.Bytes("a", []byte("{}\n"))}, Options{Workers: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	short := source.Of("shrunk.jsonl", 100, bytes.NewReader([]byte("{}\n")))
	if _, err := Read(context.Background(), []source.Source{short}, Options{}); !errors.Is(err, source.ErrChanged) {
		t.Errorf("a file that ends early: %v", err)
	}
}

func TestTableRefuses(t *testing.T) {
	data := []byte(odd)
	table := single(len(data))
	p := scan(t, data, 0, 50, 10)
	if err := table.Add(p); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Partial{
		"overlap": scan(t, data, 40, 60, 10),
		"source":  {Source: 1, From: 0, To: 1},
	} {
		if err := table.Add(p); !errors.Is(err, ErrPartial) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// zip packs a file in members that begin at the given places.
func zip(t *testing.T, data []byte, cuts ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	from := 0
	for _, to := range append(cuts, len(data)) {
		w := gzip.NewWriter(&b)
		w.Write(data[from:to])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	return b.Bytes()
}

// TestPacked reads the golden inputs packed, in one member and in many, and wants the reports of the plain ones:
// pulled, pushed in pieces, and pushed again from the middle on, as after the death of a worker.
func TestPacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, data := range golden(t) {
		whole := single(len(data))
		if err := whole.Add(scan(t, data, 0, int64(len(data)), 1<<20)); err != nil {
			t.Fatal(name, err)
		}
		want := reports(t, whole)
		cuts := []int{}
		for range rng.IntN(5) {
			cuts = append(cuts, rng.IntN(len(data)+1))
		}
		slices.Sort(cuts)
		file := append(zip(t, data, cuts...), make([]byte, rng.IntN(3)*100)...)
		table, err := Read(context.Background(), []source.Source{packed.Of(source.Bytes("a.jsonl", file))}, Options{Workers: 2, Block: 100})
		if err != nil {
			t.Fatal(name, err)
		}
		hold := func(how string, table *Table) {
			t.Helper()
			if got := reports(t, table); !bytes.Equal(got, want) || !table.Complete() || table.Size(0) != int64(len(data)) || table.Damage(0) != nil {
				t.Fatalf("%s %s: other reports, complete %t, size %d of %d, %v", name, how, table.Complete(), table.Size(0), len(data), table.Damage(0))
			}
			for n := range table.Rows() {
				row, _ := table.Row(n)
				m := table.Member(0, row.Offset)
				tail, _ := io.ReadAll(packed.NewReader(bytes.NewReader(file[m.Packed:]), m))
				if m.Plain > row.Offset || !bytes.Equal(tail, data[m.Plain:]) {
					t.Fatalf("%s %s: row at %d is looked for from %+v on", name, how, row.Offset, m)
				}
			}
		}
		hold("pulled", table)

		table = NewTable([]string{"a.jsonl"}, []int64{-1})
		push := func(s *Scan, upTo int, take bool) {
			for at := s.Next(); at < int64(min(upTo, len(file))); at = s.Next() {
				if s.Feed(bytes.Clone(file[at:min(at+int64(1+rng.IntN(3000)), int64(len(file)))])) {
					break
				}
				if take && rng.IntN(3) == 0 {
					add(t, table, s.Take())
				}
			}
		}
		first := NewPackedScan(0, 0, -1, 0)
		push(first, rng.IntN(len(file)+1), true)
		add(t, table, first.Take())
		first.Close()
		second := NewPackedScan(0, table.sources[0].reached(), -1, 0)
		push(second, len(file), true)
		second.Finish()
		add(t, table, second.Take())
		second.Close()
		hold("pushed", table)

		// A second look at a range needs no end.
		from, to := int64(len(data)/3), int64(len(data)/2)
		again := NewPackedScan(0, from, to, 0)
		push(again, len(file), false)
		again.Finish()
		got, plain := again.Take(), scan(t, data, from, to, 100)
		got.Members = nil
		if !bytes.Equal(got.AppendBinary(nil), plain.AppendBinary(nil)) {
			t.Errorf("%s: the range [%d, %d) gives another partial", name, from, to)
		}
		again.Close()
	}
}

// add adds a partial after a trip through its binary form.
func add(t *testing.T, table *Table, p *Partial) {
	t.Helper()
	p, err := ParsePartial(p.AppendBinary(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Add(p); err != nil {
		t.Fatal(err)
	}
}

func TestPackedDamage(t *testing.T) {
	data := []byte("{}\n{\"_ng_task_index\":1}\n{\"a\":")
	file := zip(t, data, 3)
	for name, file := range map[string][]byte{"cut": file[:len(file)-4], "trailing": append(bytes.Clone(file), "rubbish"...)} {
		table, err := Read(context.Background(), []source.Source{packed.Of(source.Bytes("a.gz", file))}, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if d := table.Damage(0); d == nil || d.Plain != int64(len(data)) || !table.Complete() || table.Rows() != 3 || table.Total().Torn != 1 {
			t.Errorf("%s: %v, complete %t, %d rows, %+v", name, d, table.Complete(), table.Rows(), table.Total())
		}
		pushed := NewPackedScan(0, 0, -1, 0)
		pushed.Feed(file)
		pushed.Finish()
		table2 := NewTable([]string{"a.gz"}, []int64{-1})
		add(t, table2, pushed.Take())
		if a, b := table.Damage(0), table2.Damage(0); b == nil || *a != *b || table.Total() != table2.Total() {
			t.Errorf("%s: pulled %v, pushed %v", name, a, b)
		}
	}
	// An empty file has an end as well.
	s := NewPackedScan(0, 0, -1, 0)
	s.Finish()
	table := NewTable([]string{"a.gz"}, []int64{-1})
	if table.Complete() {
		t.Error("a table is complete before the end is known")
	}
	if add(t, table, s.Take()); !table.Complete() || table.Size(0) != 0 {
		t.Error("an empty file has no end")
	}
}

// TestOrder shows that rows wait for everything before them, and that a selection needs no new scan.
func TestOrder(t *testing.T) {
	a, b := []byte("{}\n{}\n"), []byte(`{"_ng_task_index":"b"}`)
	table := NewTable([]string{"a", "b"}, []int64{int64(len(a)), int64(len(b))})
	second := scan(t, b, 0, int64(len(b)), 5)
	second.Source = 1
	table.Add(second)
	if n := table.Rows(); n != 0 {
		t.Errorf("%d rows before the first source is in", n)
	}
	table.Add(scan(t, a, 0, int64(len(a)), 5))
	first := func(t2 *Table) string {
		row, _ := t2.Row(0)
		d, _ := row.Digest()
		return fmt.Sprint(t2.Rows(), " ", t2.Name(0), " ", d.Identity.Task.String())
	}
	if got := first(table); got != "3 a 0" {
		t.Error(got)
	}
	if got := first(table.Select([]int{1, 0})); got != "3 b b" {
		t.Error(got)
	}
}

func FuzzPartial(f *testing.F) {
	data := []byte(odd)
	s := NewScan(0, 0, int64(len(data)), 0)
	s.Feed(data)
	s.Finish()
	f.Add(s.Take().AppendBinary(nil))
	q := NewScan(0, 0, int64(len(data)), 0).Ask(5, lengths{})
	q.Feed(data)
	q.Finish()
	f.Add(q.Take().AppendBinary(nil))
	rules, err := health.NewRules(health.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePartial(b)
		if err != nil {
			return
		}
		table := NewTable([]string{"a"}, []int64{p.To})
		p.Source = 0
		if table.Add(p) != nil {
			return
		}
		table.Each(0, func(r *Row) bool {
			if d, err := r.Digest(); err == nil {
				rules.Preview(d.Health)
				rules.Findings(d.Health, "a", 1)
				rules.Unobserved(d.Health)
			}
			return true
		})
	})
}
