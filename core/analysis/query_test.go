package analysis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/source"
)

// lengths answers with the length of a row and its task index, or with why it was refused.
type lengths struct{}

func (lengths) Append(dst []byte, _ *jsonl.Line, row *rollout.Row) []byte {
	if row.Problem != nil {
		return append(dst, row.Problem.Class...)
	}
	return fmt.Appendf(dst, "%d %s", row.Length, row.TaskIndex.Raw())
}

// AppendBlank answers blank lines that are not empty with where they stand.
func (lengths) AppendBlank(dst []byte, l *jsonl.Line) []byte {
	if len(l.Bytes) == 0 {
		return dst
	}
	return fmt.Appendf(dst, "at %d", l.Offset)
}

const question = 77

// answersOf puts the answers of all rows of a table behind each other.
func answersOf(t *testing.T, table *Table, a *Answers) string {
	t.Helper()
	var b bytes.Buffer
	source := -1
	table.Each(0, func(r *Row) bool {
		for ; source < r.Source; source++ {
			a.EachBlank(source+1, func(before int64, answer []byte) { fmt.Fprintf(&b, "blank behind %d: %s\n", before, answer) })
		}
		answer, ok := a.Row(r.Source, r.Number)
		if !ok {
			t.Fatalf("row %d has no answer", r.Ordinal)
		}
		fmt.Fprintf(&b, "%d:%s\n", r.Line, answer)
		return true
	})
	return b.String()
}

// TestQuery cuts the golden inputs anywhere, as the first scan is cut in TestSplits, and wants the same answers;
// also from packed sources and from any number of workers.
func TestQuery(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 12))
	files := golden(t)
	rounds := 1000/len(files) + 1
	for name, data := range files {
		plain := []source.Source{source.Bytes("a", data)}
		table, err := Read(context.Background(), plain, Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Ask(context.Background(), plain, question, lengths{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := answersOf(t, table, whole)
		for range rounds {
			cuts := []int64{0, int64(len(data))}
			for range rng.IntN(6) {
				cuts = append(cuts, rng.Int64N(int64(len(data))+1))
			}
			slices.Sort(cuts)
			var parts []*Partial
			for i := 1; i < len(cuts); i++ {
				s := NewScan(0, cuts[i-1], cuts[i], 0).Ask(question, lengths{})
				for !s.Done() {
					at := s.Next()
					if at >= int64(len(data)) {
						s.Finish()
						break
					}
					s.Feed(data[at:min(at+1+rng.Int64N(5000), int64(len(data)))])
					if rng.IntN(4) == 0 {
						parts = append(parts, s.Take())
					}
				}
				parts = append(parts, s.Take())
			}
			if i := rng.IntN(len(parts)); rng.IntN(2) == 0 && i > 0 {
				p, err := Merge(parts[i-1], parts[i])
				if err != nil {
					t.Fatal(err)
				}
				parts = slices.Replace(parts, i-1, i+1, p)
			}
			rng.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
			got := NewAnswers(question, 1)
			for n, p := range parts {
				missing := int64(0)
				for _, r := range got.Missing(0, int64(len(data))) {
					missing += r.To - r.From
				}
				for _, p := range parts[n:] {
					missing -= p.To - p.From
				}
				if missing != 0 {
					t.Fatalf("%s: cuts %v: %d bytes too many are missing", name, cuts, missing)
				}
				p, err := ParsePartial(p.AppendBinary(nil))
				if err != nil {
					t.Fatal(err)
				}
				if err := got.Add(p); err != nil {
					t.Fatal(name, cuts, err)
				}
			}
			if list := got.Missing(0, int64(len(data))); len(list) > 0 {
				t.Fatalf("%s: cuts %v: %v is missing in the end", name, cuts, list)
			}
			if answersOf(t, table, got) != want {
				t.Fatalf("%s: cuts %v give other answers", name, cuts)
			}
		}
		both := append(plain, packed.Of(source.Bytes("b", zip(t, data, len(data)/3))))
		table, err = Read(context.Background(), both, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 3} {
			got, err := Ask(context.Background(), both, question, lengths{}, Options{Workers: workers, Block: 5000})
			if err != nil {
				t.Fatal(err)
			}
			if answersOf(t, table, got) != want+want {
				t.Errorf("%s: %d workers give other answers", name, workers)
			}
		}
	}
}

func TestAnswersRefuse(t *testing.T) {
	data := []byte(odd)
	part := func(from, to int64) *Partial {
		s := NewScan(0, from, to, 0).Ask(question, lengths{})
		s.Feed(data[s.Next():])
		s.Finish()
		return s.Take()
	}
	a := NewAnswers(question, 1)
	if err := a.Add(part(10, 60)); err != nil {
		t.Fatal(err)
	}
	if _, ok := a.Row(0, 0); ok {
		t.Error("there is an answer before everything in front of it is in")
	}
	if got, want := a.Missing(0, 100), []Range{{0, 10}, {60, 100}}; !slices.Equal(got, want) {
		t.Errorf("missing %v, want %v", got, want)
	}
	if got, want := a.Missing(0, 30), []Range{{0, 10}}; !slices.Equal(got, want) {
		t.Errorf("missing %v, want %v", got, want)
	}
	foreign := part(60, 70)
	foreign.Query = 78
	source := part(60, 70)
	source.Source = 1
	for name, p := range map[string]*Partial{
		"overlap": part(50, 70), "question": foreign, "source": source, "first scan": scan(t, data, 60, 70, 10),
	} {
		if err := a.Add(p); !errors.Is(err, ErrPartial) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := single(len(data)).Add(part(0, 10)); !errors.Is(err, ErrPartial) {
		t.Errorf("a table takes answers: %v", err)
	}
	if _, err := Merge(scan(t, data, 0, 10, 10), part(10, 20)); err == nil {
		t.Error("parts of two scans are merged")
	}
	if _, ok := a.Row(0, -1); ok {
		t.Error("there is a row in front of the first")
	}
}

// alone is a mapper that notes when two scans are in it at once.
type alone struct {
	inside atomic.Bool
	clash  *atomic.Bool
}

func (m *alone) Append(dst []byte, _ *jsonl.Line, row *rollout.Row) []byte {
	if !m.inside.CompareAndSwap(false, true) {
		m.clash.Store(true)
	}
	runtime.Gosched()
	m.inside.Store(false)
	return append(dst, row.TaskIndex.Raw()...)
}

// TestPartsApart asks with several workers: each scan has a mapper of its own, since one may keep memory between rows.
func TestPartsApart(t *testing.T) {
	data := []byte(strings.Repeat("{\"_ng_task_index\":1,\"_ng_rollout_index\":0}\n", 3000))
	var list []source.Source
	for range 6 {
		list = append(list, source.Bytes("rollouts.jsonl", data))
	}
	var clash atomic.Bool
	var made atomic.Int32
	rows := 0
	err := Parts(context.Background(), list, question, func() Mapper { made.Add(1); return &alone{clash: &clash} },
		Options{Workers: 4, Block: 20_000}, func(p *Partial) error { rows += p.Rows(); return nil })
	if err != nil || clash.Load() || rows != 18_000 || made.Load() < 6 {
		t.Errorf("%v; clash %t, %d rows, %d mappers", err, clash.Load(), rows, made.Load())
	}
}

// passing has an answer for lines of an even length alone, and tells so by the line.
type passing struct{ lengths }

func (p passing) Append(dst []byte, l *jsonl.Line, row *rollout.Row) []byte {
	if p.Passes(l.Bytes) {
		return dst
	}
	return p.lengths.Append(dst, l, row)
}

func (passing) Passes(line []byte) bool { return len(line)%2 == 1 }

// unasked is the same without telling.
type unasked struct{ m passing }

func (u unasked) Append(dst []byte, l *jsonl.Line, row *rollout.Row) []byte {
	return u.m.Append(dst, l, row)
}

func (u unasked) AppendBlank(dst []byte, l *jsonl.Line) []byte { return u.m.AppendBlank(dst, l) }

// TestPasser wants the same answers whether lines without one are read or passed over, and the same again when the
// answers are made anew.
func TestPasser(t *testing.T) {
	for name, data := range golden(t) {
		plain := []source.Source{source.Bytes("a", data)}
		table, err := Read(context.Background(), plain, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range []Mapper{passing{}, unasked{}} {
			answers, err := Ask(context.Background(), plain, question, m, Options{})
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, answersOf(t, table, answers))
		}
		s := NewScan(0, 0, int64(len(data)), 0).Ask(question, passing{})
		s.Feed(data)
		s.Finish()
		p := s.Take()
		if a := p.Account; a.Lines != table.Total().Lines || a.Blank != table.Total().Blank || a.Bytes() != table.Total().Bytes() {
			t.Errorf("%s: %+v, want the lines of %+v", name, a, table.Total())
		}
		p.Answered(func(dst, answer []byte) []byte { return append(append(dst, answer...), answer...) })
		p.Answered(func(dst, answer []byte) []byte { return append(dst, answer[:len(answer)/2]...) })
		again := NewAnswers(question, 1)
		if err := again.Add(p); err != nil {
			t.Fatal(err)
		}
		for _, text := range append(texts[1:], answersOf(t, table, again)) {
			if text != texts[0] {
				t.Errorf("%s:\n%.500s\nwant\n%.500s", name, text, texts[0])
			}
		}
	}
}
