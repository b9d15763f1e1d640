package metrics

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/synth"
)

// digestsOf maps the rows of a text.
func digestsOf(t testing.TB, text []byte, m *Mapper) []Row {
	t.Helper()
	var list []Row
	err := eachLine(text, m, true, 0, func(row *Row) error {
		kept := *row
		kept.Digest = bytes.Clone(row.Digest)
		list = append(list, kept)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func reportsOf(t *testing.T, run *Run) []byte {
	t.Helper()
	var b bytes.Buffer
	e, err := run.AllRows()
	if err == nil {
		err = e.WriteJSON(&b)
	}
	if err == nil {
		var a *Aggregate
		if a, err = run.Aggregate(); err == nil {
			err = a.WriteJSON(&b)
		}
	}
	if err == nil {
		var p *PassK
		if p, err = run.PassK(false); err == nil {
			err = p.WriteJSON(&b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMerge cuts runs anywhere and joins the parts in any grouping: the reports stay the same, byte for byte.
func TestMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"s16-agents", "s17-masked", "s19-numbers", "s01-healthy-perf"} {
		text := read(t, input(name, "rollouts.jsonl"))
		list := digestsOf(t, text, &Mapper{Fields: []string{"score"}})
		whole := NewRun(Options{Lenient: true})
		for i := range list {
			if err := whole.Add(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := reportsOf(t, whole)
		for range 50 {
			var parts []*Run
			for from := 0; from < len(list) || len(parts) == 0; {
				part := NewRun(Options{Lenient: true})
				for n := random.IntN(len(list)/2 + 1); n > 0 && from < len(list); n-- {
					if err := part.Add(&list[from]); err != nil {
						t.Fatal(err)
					}
					from++
				}
				parts = append(parts, part)
			}
			for len(parts) > 1 {
				i := random.IntN(len(parts) - 1)
				parts[i].Merge(parts[i+1])
				parts = append(parts[:i+1], parts[i+2:]...)
			}
			if have := reportsOf(t, parts[0]); !bytes.Equal(have, want) {
				t.Fatalf("%s: a split changes the reports", name)
			}
			if a, b := whole.Field(3, 0); a != "" {
				if c, d := parts[0].Field(3, 0); a != c || b != d {
					t.Fatalf("%s: a split changes a field", name)
				}
			}
		}
	}
}

// TestOrder adds the rows of runs in another order: what is sorted does not depend on it.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list := digestsOf(t, read(t, input("s19-numbers", "rollouts.jsonl")), &Mapper{})
	var want []byte
	for i := range 5 {
		run := NewRun(Options{})
		for k := range list {
			list[k].Identity = nil
			if err := run.Add(&list[k]); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		e, err := run.AllRows()
		if err == nil {
			err = e.WriteJSON(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = b.Bytes()
		} else if !bytes.Equal(want, b.Bytes()) {
			t.Fatal("the order of the rows changes the report")
		}
		random.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	}
}

// FuzzDigest opens damaged digests.
func FuzzDigest(f *testing.F) {
	text := read(f, input("s19-numbers", "holes.jsonl"))
	for i, row := range digestsOf(f, text, &Mapper{Keys: true, Fields: []string{"extracted_answer"}}) {
		if i%8 == 0 {
			f.Add(row.Digest)
		}
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		run := NewRun(Options{Lenient: true})
		if run.Add(&Row{Digest: stored}) == nil {
			_ = run.Scores(ScoreOptions{})
			_, _ = run.AllRows()
		}
	})
}

// FuzzRow maps whatever is a row and reduces it twice over.
func FuzzRow(f *testing.F) {
	for _, line := range bytes.Split(read(f, input("s19-numbers", "single.jsonl")), []byte("\n")) {
		f.Add(line)
	}
	f.Add([]byte(`{"_ng_task_index":0,"reward":{"a":[1]},"response":{"usage":{"reward":1e308,"x":-0.0}},"ng_perf":{"num_turns":0},"mask_sample":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var reader rollout.Reader
		row := reader.Read(&jsonl.Line{Number: 1, Bytes: line, Length: int64(len(line))})
		digest := (&Mapper{Keys: true, Fields: []string{"x"}}).Append(nil, row)
		run := NewRun(Options{Lenient: true})
		if err := run.Add(&Row{Digest: digest}); err != nil {
			t.Fatal(err)
		}
		if run.State(0) != Readable {
			return
		}
		var b bytes.Buffer
		e, err := run.AllRows()
		if err == nil {
			err = e.WriteJSON(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, "itself", b.Bytes(), b.Bytes())
		_ = run.Scores(ScoreOptions{By: ByField})
	})
}

func benchmarkRows(b *testing.B) []byte {
	var text bytes.Buffer
	if _, err := synth.Write(&text, synth.Options{Rollouts: 400, Seed: 7}); err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}

// scan reads every row and does nothing with it.
func scan(text []byte, use func(*rollout.Row)) {
	var reader rollout.Reader
	s := jsonl.NewSplitter(0)
	emit := func(l *jsonl.Line) bool { use(reader.Read(l)); return true }
	s.Feed(text, emit)
	s.Finish(emit)
}

func BenchmarkScan(b *testing.B) {
	text := benchmarkRows(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scan(text, func(*rollout.Row) {})
	}
}

func BenchmarkMap(b *testing.B) {
	text := benchmarkRows(b)
	b.SetBytes(int64(len(text)))
	var (
		m      Mapper
		digest []byte
		size   int
		count  int
	)
	for b.Loop() {
		size, count = 0, 0
		scan(text, func(row *rollout.Row) {
			digest = m.Append(digest[:0], row)
			size += len(digest)
			count++
		})
	}
	b.ReportMetric(float64(size)/float64(count), "digest-B/row")
}

// BenchmarkProfile reads, maps and profiles; without the file system.
func BenchmarkProfile(b *testing.B) {
	text := benchmarkRows(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var m Mapper
		run := NewRun(Options{})
		if err := eachLine(text, &m, false, 0, run.Add); err != nil {
			b.Fatal(err)
		}
		if _, err := run.Profile(run, ProfileOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReduce profiles rows that are mapped already, without their file.
func BenchmarkReduce(b *testing.B) {
	list := digestsOf(b, benchmarkRows(b), &Mapper{})
	for b.Loop() {
		run := NewRun(Options{Lenient: true})
		for i := range list {
			if err := run.Add(&list[i]); err != nil {
				b.Fatal(err)
			}
		}
		_ = run.Scores(ScoreOptions{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/row")
}
