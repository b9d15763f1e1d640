package health

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

// BenchmarkAppend maps rows with trajectories; scan is the part of it that reading the row takes, and
// validate what reading its trajectory takes.
func BenchmarkAppend(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "health", "s01-healthy-perf", "input", "rollouts.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	var lines []jsonl.Line
	for line := range bytes.SplitSeq(bytes.TrimSpace(data), []byte("\n")) {
		lines = append(lines, jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
	}
	var reader rollout.Reader
	var validator trajectory.Reader
	var m Mapper
	var dst []byte
	for _, part := range []struct {
		name string
		f    func(*rollout.Row)
	}{
		{"scan", func(*rollout.Row) {}},
		{"validate", func(row *rollout.Row) { validator.Read(row.Trajectory) }},
		{"append", func(row *rollout.Row) { dst = m.Append(dst[:0], row) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for range b.N {
				for i := range lines {
					part.f(reader.Read(&lines[i]))
				}
			}
		})
	}
}

// BenchmarkReduce reduces a million rows of different tasks, and writes their reports.
func BenchmarkReduce(b *testing.B) {
	for _, n := range []int{20_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			digests := mapFiles(file{"f", []byte(strings.Join([]string{example1, example2, example3, "{}"}, "\n"))})
			rows := make([]Row, n)
			for i := range rows {
				id := rollout.Identity{Task: rollout.IntKey(jsonscan.Integer{Magnitude: uint64(i / 4)}), Rollout: rollout.IntKey(jsonscan.Integer{Magnitude: uint64(i % 4)})}
				id.ID = id.Task.String() + "-" + id.Rollout.String()
				rows[i] = Row{Name: "f", Line: int64(i) + 1, Ordinal: int64(i), Identity: id, Digest: digests[i*7%4].digest}
			}
			var before, after runtime.MemStats
			var report *Report
			b.Run("reduce", func(b *testing.B) {
				for range b.N {
					report = nil
					runtime.GC()
					runtime.ReadMemStats(&before)
					r, _ := NewReducer(Options{})
					r.Grow(n)
					for i := range rows {
						if err := r.Add(&rows[i]); err != nil {
							b.Fatal(err)
						}
					}
					report, _ = r.Report()
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/row")
			})
			b.Run("summary", func(b *testing.B) {
				for range b.N {
					report.SummaryJSON()
				}
			})
			b.Run("verdicts", func(b *testing.B) {
				for range b.N {
					report.WriteVerdicts(io.Discard)
				}
			})
		})
	}
}
