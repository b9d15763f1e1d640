package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/source"
)

var benchRollouts = flag.Int("bench-rollouts", 100_000, "rollouts in the benchmark of whole folders")

// bulk makes a sound run of n rollouts: every tenth failed once before it completed, every hundredth is missing.
func bulk(n int) tree {
	var inputs, failures, results, reserved strings.Builder
	question := strings.Repeat("what is the sum of the first hundred primes, and why? ", 8)
	answer := strings.Repeat("the primes below a hundred are to be added one by one. ", 24)
	digest := sha256.New()
	digest.Write([]byte("["))
	for i := range n {
		id := fmt.Sprintf(`"_ng_task_index":%d,"_ng_rollout_index":%d,"agent_ref":{"name":"solver"},"task_source":"sums"`, i/8, i%8)
		fmt.Fprintf(&inputs, "{%s,\"responses_create_params\":{\"input\":[{\"role\":\"user\",\"content\":\"%s\"}]}}\n", id, question)
		if i > 0 {
			digest.Write([]byte(","))
		}
		fmt.Fprintf(digest, `{"_ng_rollout_index":%d,"_ng_task_index":%d,"agent_ref":{"name":"solver"},"responses_create_params":{"input":[{"content":"%s","role":"user"}]},"task_source":"sums"}`, i%8, i/8, question)
		attempt := 0
		if i%10 == 0 {
			fmt.Fprintf(&failures, "{%s,\"_ng_run_id\":\"%s\",\"_ng_attempt_index\":0,\"_ng_failure_class\":\"agent_run_error\",\"_ng_failure_message\":\"status 500 of server %d\"}\n", id, runID, i%977)
			attempt = 1
		}
		if i%100 == 99 {
			continue
		}
		if reserved.Len() > 0 {
			reserved.WriteByte(',')
		}
		fmt.Fprintf(&reserved, `"%d-%d":%d`, i/8, i%8, attempt+1)
		fmt.Fprintf(&results, "{%s,\"_ng_run_id\":\"%s\",\"_ng_attempt_index\":%d,\"response\":{\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"%s\"}],\"usage\":{\"input_tokens\":%d,\"output_tokens\":77}},\"reward\":%d}\n", id, runID, attempt, answer, 100+i%50, i%2)
	}
	digest.Write([]byte("]"))
	return tree{
		"r_materialized_inputs.jsonl": inputs.String(), "r_failures.jsonl": failures.String(), "r.jsonl": results.String(),
		"r_manifest.json": fmt.Sprintf(`{"next_attempt":{%s},"run_id":"%s","source_digest":"s","materialized_digest":"%s","config_digest":"c"}`, reserved.String(), runID, hex.EncodeToString(digest.Sum(nil))),
	}
}

// BenchmarkFolder reports how many times a plain scan of the same bytes a whole folder costs, and the memory that its
// report holds for each rollout.
func BenchmarkFolder(b *testing.B) {
	n := *benchRollouts
	tr := bulk(n)
	files := tr.files()
	total := int64(0)
	for _, f := range files {
		total += f.Source.Size()
	}
	plain := func() {
		var s jsonscan.Scanner
		for _, f := range files {
			splitter := jsonl.NewSplitter(0)
			buffer := make([]byte, piece)
			each := func(l *jsonl.Line) bool { _, _ = s.Scan(l.Bytes); return true }
			for at := int64(0); at < f.Source.Size(); at += piece {
				part := buffer[:min(piece, f.Source.Size()-at)]
				if err := source.ReadFull(f.Source, part, at); err != nil {
					b.Fatal(err)
				}
				splitter.Feed(part, each)
			}
			splitter.Finish(each)
		}
	}
	b.SetBytes(total)
	b.ReportAllocs()
	var scanning, verifying time.Duration
	var held uint64
	for range b.N {
		start := time.Now()
		plain()
		scanning += time.Since(start)
		before := heap()
		start = time.Now()
		report, err := Run(context.Background(), files, Options{})
		if err != nil {
			b.Fatal(err)
		}
		verifying += time.Since(start)
		if held = heap() - before; report.Runs[0].Coverage.Expected != int64(n) || !report.Runs[0].Reliable {
			b.Fatalf("%+v", report.Runs[0].Coverage)
		}
		if err := report.WriteRecords(io.Discard, nil); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(report)
	}
	b.ReportMetric(float64(verifying)/float64(scanning), "×scan")
	b.ReportMetric(float64(held)/float64(n), "B/rollout")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestBulk looks at the run of the benchmark in small.
func TestBulk(t *testing.T) {
	report, err := Run(context.Background(), bulk(1000).files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := report.Runs[0]
	if c := run.Coverage; !run.Reliable || c.Successful != 990 || c.Unknown != 10 || c.CountedFailures != 100 {
		t.Errorf("%+v", c)
	}
	var records bytes.Buffer
	if err := report.WriteRecords(&records, nil); err != nil || bytes.Count(records.Bytes(), []byte(`"disposition":`)) != 1000 {
		t.Error(err)
	}
}
