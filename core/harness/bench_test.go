package harness

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/synth"
)

// BenchmarkCost measures what the harness checks add to the health pass on the same rows: the budget is 1.5 times that
// pass. Every row is timed by itself and its best time counts, so that what else the machine does falls out.
func BenchmarkCost(b *testing.B) {
	small := everything(b)
	for _, set := range []struct {
		name string
		data func() []byte
	}{
		{"cases", func() []byte { return small }},
		{"complete", func() []byte { return readFile(b, filepath.Join(goldens, "01-complete", "input.jsonl")) }},
		{"mixed", func() []byte { return made(b, synth.Options{Rollouts: 100}) }},
		{"text", func() []byte { return made(b, synth.Options{Rollouts: 200, MeanBytes: 16 << 10, Mix: synth.TextOnly}) }},
		{"tokens", func() []byte {
			return made(b, synth.Options{Rollouts: 60, MeanBytes: 100 << 10, Mix: synth.TokenHeavy})
		}},
	} {
		b.Run(set.name, func(b *testing.B) {
			var lines []jsonl.Line
			data := set.data()
			for line := range bytes.SplitSeq(data, []byte("\n")) {
				if !jsonl.Blank(line) {
					lines = append(lines, jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
				}
			}
			var reader rollout.Reader
			var mapper health.Mapper
			var m Mapper
			var digest []byte
			pass, added := make([]time.Duration, len(lines)), make([]time.Duration, len(lines))
			b.SetBytes(int64(len(data)))
			digests := 0
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				digests = 0
				for i := range lines {
					begin := time.Now()
					row := reader.Read(&lines[i])
					digest = mapper.Append(digest[:0], row)
					between := time.Now()
					digest = m.Append(digest[:0], &lines[i], row)
					end := time.Now()
					digests += len(digest)
					if d := between.Sub(begin); pass[i] == 0 || d < pass[i] {
						pass[i] = d
					}
					if d := end.Sub(between); added[i] == 0 || d < added[i] {
						added[i] = d
					}
				}
			}
			var all, more time.Duration
			for i := range lines {
				all += pass[i]
				more += added[i]
			}
			b.ReportMetric(float64(more)/float64(all), "of-health")
			b.ReportMetric(float64(len(data))/more.Seconds()/1e6, "best-MB/s")
			b.ReportMetric(float64(digests)/float64(len(lines)), "B/row")
		})
	}
}

func made(b *testing.B, o synth.Options) []byte {
	b.Helper()
	var out bytes.Buffer
	if _, err := synth.Write(&out, o); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}
