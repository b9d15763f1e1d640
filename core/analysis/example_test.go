package analysis_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/source"
)

// judge reads the rows of a run and judges them.
func judge(ctx context.Context, sources []source.Source) (*analysis.Table, *health.Report, error) {
	// Every line becomes a row with a digest of it; the rows themselves stay in the file.
	table, err := analysis.Read(ctx, sources, analysis.Options{Workers: 4})
	if err != nil {
		return nil, nil, err
	}
	// The report is a reduction over the digests, in the order of the rows.
	reducer, err := health.NewReducer(health.Options{})
	if err != nil {
		return nil, nil, err
	}
	table.Each(0, func(row *analysis.Row) bool {
		var d analysis.Digest
		if d, err = row.Digest(); err == nil {
			err = reducer.Add(&health.Row{Source: row.Source, Name: table.Name(row.Source), Line: row.Line,
				Ordinal: row.Ordinal, Identity: d.Identity, Digest: d.Health})
		}
		return err == nil
	})
	if err != nil {
		return nil, nil, err
	}
	report, err := reducer.Report()
	return table, report, err
}

// A file is opened by whoever uses the core; the core reads it by ranges, judges its rows and says what it found where.
func Example() {
	file, err := os.Open("../../testdata/health/s05-failed-calls/input/rollouts.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	table, report, err := judge(context.Background(), []source.Source{source.Of("rollouts.jsonl", info.Size(), file)})
	if err != nil {
		log.Fatal(err)
	}

	a := table.Total()
	fmt.Printf("%d lines: %d read, %d blank, %d unreadable\n", a.Lines, a.Read, a.Blank, a.Unreadable)
	counts := map[health.Verdict]int{}
	for i := range report.Rows() {
		counts[report.Verdict(i)]++
	}
	fmt.Println(counts[health.Healthy], "healthy,", counts[health.Unhealthy], "unhealthy,", counts[health.Unobserved], "unobserved")
	row, _ := table.Row(2)
	for _, f := range report.Findings(2) {
		fmt.Printf("line %d: %s: %s\n", row.Line, f.Check, health.Sentence(f))
	}

	// Output:
	// 40 lines: 40 read, 0 blank, 0 unreadable
	// 0 healthy, 27 unhealthy, 13 unobserved
	// line 3: rollout_ended_on_failed_model_call: the only call to policy_model, mc-af4764-7, failed: status 200, capture_parse_error
	// line 3: model_call_failed: call mc-af4764-7: status 200, capture_parse_error, the last call
}
