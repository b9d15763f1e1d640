package parcel

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/synth"
)

// BenchmarkBudget measures the making of a bundle on one core, hashes and packing included, against the scan of the same
// rows: the plain one, which validates them and does nothing else, and the one that judges them. Every piece is timed by
// itself and its best time of all rounds counts, so that what else the machine does falls out.
func BenchmarkBudget(b *testing.B) {
	const rows, piece = 200, 256 << 10
	maker, err := synth.New(synth.Options{Rollouts: rows, Seed: 3})
	if err != nil {
		b.Fatal(err)
	}
	var body []byte
	var lines [][]byte
	for n := range rows {
		lines = append(lines, bytes.TrimSpace(maker.AppendRow(nil, n)))
		body = append(append(body, lines[n]...), '\n')
	}
	var scanner jsonscan.Scanner
	var reader rollout.Reader
	var mapper health.Mapper
	var digest []byte
	var m *Maker
	var at int
	sum := sha256.New()
	scans := func(run func(line []byte)) func(int) bool {
		return func(n int) bool {
			run(lines[n])
			return n+1 < len(lines)
		}
	}
	passes := []struct {
		name string
		run  func(n int) (more bool)
		best []time.Duration
	}{
		{name: "scan", run: scans(func(line []byte) { scanner.Scan(line) })},
		{name: "health", run: scans(func(line []byte) {
			r := reader.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
			identity, facts := r.Identity(), r.Facts()
			digest = mapper.Append(facts.Append(identity.Append(digest[:0])), r)
		})},
		{name: "bundle", run: func(n int) bool {
			if n == 0 {
				c := &Choice{}
				m = NewMaker(NewPlan([]File{{Path: "rollouts.jsonl", Size: int64(len(body)), Rollouts: true}}, c), c, pack.NewWriter(func(int, []byte) error { return nil }))
				err = m.Begin(0, nil)
				at = 0
				sum.Reset()
			}
			if err != nil {
				b.Fatal(err)
			}
			end := min(at+piece, len(body))
			sum.Write(body[at:end])
			err = m.Take(int64(at), body[at:end])
			if at = end; at < len(body) {
				return true
			}
			if err == nil {
				err = m.End()
			}
			if err == nil {
				err = m.Finish()
			}
			return false
		}},
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		for i := range passes {
			p := &passes[i]
			for range 4 {
				for n, more := 0, true; more; n++ {
					start := time.Now()
					more = p.run(n)
					if took := time.Since(start); n == len(p.best) {
						p.best = append(p.best, took)
					} else {
						p.best[n] = min(p.best[n], took)
					}
				}
			}
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	speed := map[string]float64{}
	for _, p := range passes {
		all := time.Duration(0)
		for _, took := range p.best {
			all += took
		}
		speed[p.name] = float64(len(body)) / 1e6 / all.Seconds()
		b.ReportMetric(speed[p.name], p.name+"-MB/s")
	}
	b.ReportMetric(speed["bundle"]/speed["scan"], "bundle/scan")
	b.ReportMetric(speed["bundle"]/speed["health"], "bundle/health(≥0.3)")
}
