package search

import (
	"bytes"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/synth"
)

// BenchmarkBudget measures searches against the plain scan of the same rows, which validates them and does nothing
// else, and regular expressions against what anybody would write: decode all texts and match. Every row is timed by
// itself and its best time of all rounds counts, so that what else the machine does falls out.
func BenchmarkBudget(b *testing.B) {
	maker, err := synth.New(synth.Options{Rollouts: 300, Seed: 3})
	if err != nil {
		b.Fatal(err)
	}
	var rows [][]byte
	total := 0
	for n := range 300 {
		rows = append(rows, bytes.TrimSpace(maker.AppendRow(nil, n)))
		total += len(rows[n])
	}
	var scanner jsonscan.Scanner
	var reader rollout.Reader
	var mapper health.Mapper
	var digest, text []byte
	hits := 0
	find := func(o Options) func([]byte) {
		s, err := New(o)
		if err != nil {
			b.Fatal(err)
		}
		f := s.Finder()
		return func(row []byte) {
			if s.Could(row) {
				f.Row(reader.Read(&jsonl.Line{Bytes: row, Length: int64(len(row)), Terminated: true}), func(*Hit) bool { hits++; return true })
			}
		}
	}
	answer := func(o Options) func([]byte) {
		s, err := New(o)
		if err != nil {
			b.Fatal(err)
		}
		return func(row []byte) {
			l := &jsonl.Line{Bytes: row, Length: int64(len(row)), Terminated: true}
			digest = s.Append(digest[:0], l, reader.Read(l))
		}
	}
	const rare, often, expression = "harbor is never seen", "harbor", `harbor is (never|seldom) [a-z]+ seen`
	re := regexp.MustCompile("(?m)" + expression)
	passes := []struct {
		name string
		run  func([]byte)
		best []time.Duration
	}{
		{name: "scan", run: func(row []byte) { scanner.Scan(row) }},
		{name: "health", run: func(row []byte) {
			r := reader.Read(&jsonl.Line{Bytes: row, Length: int64(len(row)), Terminated: true})
			identity, facts := r.Identity(), r.Facts()
			digest = mapper.Append(facts.Append(identity.Append(digest[:0])), r)
		}},
		{name: "literal", run: find(Options{Pattern: rare, Literal: true})},
		{name: "folded", run: find(Options{Pattern: rare, Literal: true, Fold: true})},
		{name: "often", run: find(Options{Pattern: often, Literal: true})},
		{name: "answers", run: answer(Options{Pattern: rare, Literal: true})},
		{name: "answers-folded", run: answer(Options{Pattern: rare, Literal: true, Fold: true})},
		{name: "regexp", run: find(Options{Pattern: expression})},
		{name: "regexp-folded", run: find(Options{Pattern: expression, Fold: true})},
		{name: "plain-regexp", run: func(row []byte) {
			v, err := scanner.Scan(row)
			if err != nil {
				b.Fatal(err)
			}
			each(v, func(s jsonscan.Value) {
				text = s.AppendText(text[:0])
				re.FindAllIndex(text, -1)
			})
		}},
	}
	for i := range passes {
		passes[i].best = slices.Repeat([]time.Duration{time.Hour}, len(rows))
	}
	b.SetBytes(int64(total))
	for b.Loop() {
		for i := range passes {
			p := &passes[i]
			for k, row := range rows {
				for range 3 {
					start := time.Now()
					p.run(row)
					p.best[k] = min(p.best[k], time.Since(start))
				}
			}
		}
	}
	speed := map[string]float64{}
	for i := range passes {
		sum := time.Duration(0)
		for _, t := range passes[i].best {
			sum += t
		}
		speed[passes[i].name] = float64(total) / 1e6 / sum.Seconds()
		b.ReportMetric(speed[passes[i].name], passes[i].name+"-MB/s")
	}
	if hits == 0 {
		b.Fatal("nothing was found")
	}
	b.ReportMetric(speed["literal"]/speed["scan"], "literal/scan(≥0.7)")
	b.ReportMetric(speed["folded"]/speed["scan"], "folded/scan(≥0.7)")
	b.ReportMetric(speed["answers"]/speed["scan"], "answers/scan(≥0.7)")
	b.ReportMetric(speed["answers-folded"]/speed["scan"], "answers-folded/scan(≥0.7)")
	b.ReportMetric(speed["regexp"]/speed["plain-regexp"], "regexp/plain(≥5)")
}
