package analysis

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/synth"
)

// typedRow is what a program that decodes rows with encoding/json would declare for this purpose.
type typedRow struct {
	Task     any                   `json:"_ng_task_index"`
	Rollout  any                   `json:"_ng_rollout_index"`
	Reward   float64               `json:"reward"`
	Agent    struct{ Name string } `json:"agent_ref"`
	Response struct {
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
		Output []struct {
			Type, Role, Name, Status string
			CallID                   string `json:"call_id"`
			Arguments                string
			Content                  json.RawMessage
			PromptTokenIDs           []int     `json:"prompt_token_ids"`
			GenerationTokenIDs       []int     `json:"generation_token_ids"`
			GenerationLogProbs       []float64 `json:"generation_log_probs"`
		} `json:"output"`
	} `json:"response"`
	Trajectory struct {
		Turns []struct {
			No     int             `json:"turn_no"`
			Answer json.RawMessage `json:"answer"`
		} `json:"turns"`
		Calls []struct {
			ID       string          `json:"model_call_id"`
			Response json.RawMessage `json:"response"`
			Metadata struct {
				Status int `json:"status_code"`
			} `json:"response_metadata"`
			Tokens struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
			} `json:"token_stats"`
		} `json:"model_calls"`
	} `json:"ng_trajectory"`
}

// BenchmarkBudget measures the first budgets of the design in one run: the scanner and the health pass on
// one core against encoding/json into a struct, and what the other sections of a digest add to it. Every row is timed by itself and
// its best time of all rounds counts, so that what else the machine does falls out; ratios are what to read.
func BenchmarkBudget(b *testing.B) {
	rows := sampleRows(b)
	total := 0
	for _, r := range rows {
		total += len(r)
	}
	var scanner jsonscan.Scanner
	var reader rollout.Reader
	var mapper health.Mapper
	var digest []byte
	passes := []struct {
		name string
		run  func([]byte) error
		best []time.Duration
	}{
		{name: "encoding/json", run: func(row []byte) error { return json.Unmarshal(row, new(typedRow)) }},
		{name: "scanner", run: func(row []byte) error { _, err := scanner.Scan(row); return err }},
		{name: "health", run: func(row []byte) error {
			r := reader.Read(&jsonl.Line{Bytes: row, Length: int64(len(row)), Terminated: true})
			identity, facts := r.Identity(), r.Facts()
			digest = mapper.Append(facts.Append(identity.Append(digest[:0])), r)
			return nil
		}},
		{name: "scored", run: section(Only(Health, Metrics))},
		{name: "together", run: section(All)},
	}
	for i := range passes {
		passes[i].best = slices.Repeat([]time.Duration{time.Hour}, len(rows))
	}
	b.SetBytes(int64(total))
	for b.Loop() {
		for range 3 {
			for i := range passes {
				p := &passes[i]
				for k, row := range rows {
					start := time.Now()
					if err := p.run(row); err != nil && i > 0 {
						b.Fatal(err)
					}
					p.best[k] = min(p.best[k], time.Since(start))
				}
			}
		}
	}
	speed := make([]float64, len(passes))
	for i := range passes {
		sum := time.Duration(0)
		for _, t := range passes[i].best {
			sum += t
		}
		speed[i] = float64(total) / 1e6 / sum.Seconds()
		b.ReportMetric(speed[i], passes[i].name+"-MB/s")
	}
	b.ReportMetric(speed[1]/speed[0], "scanner/json(≥8)")
	b.ReportMetric(speed[2]/speed[0], "health/json(≥5)")
	b.ReportMetric(speed[2]/speed[3], "scored/health(≤1.3)")
	b.ReportMetric(speed[2]/speed[4], "together/health(≤1.5)")
}

// section reads a row for some sections of its digest, as a scan does.
func section(wanted Sections) func(row []byte) error {
	var (
		reader  rollout.Reader
		mappers = wanted.mappers()
		digest  []byte
	)
	return func(row []byte) error {
		line := &jsonl.Line{Bytes: row, Length: int64(len(row)), Terminated: true}
		r := reader.Read(line)
		identity, facts := r.Identity(), r.Facts()
		digest = facts.Append(identity.Append(digest[:0]))
		for _, m := range mappers {
			if m != nil {
				digest = m.Append(digest, line, r)
			}
		}
		return nil
	}
}

func sampleRows(tb testing.TB) [][]byte {
	maker, err := synth.New(synth.Options{Rollouts: 400, Seed: 3})
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][]byte
	for n := range 400 {
		rows = append(rows, bytes.TrimSpace(maker.AppendRow(nil, n)))
	}
	return rows
}

// BenchmarkWorkers reads the same bytes with one worker and with one for every core.
func BenchmarkWorkers(b *testing.B) {
	var file bytes.Buffer
	if _, err := synth.Write(&file, synth.Options{Rollouts: 4000, Seed: 3}); err != nil {
		b.Fatal(err)
	}
	src := []source.Source{source.Bytes("rollouts.jsonl", file.Bytes())}
	for _, workers := range []int{1, runtime.NumCPU()} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.SetBytes(int64(file.Len()))
			for b.Loop() {
				table, err := Read(context.Background(), src, Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				if table.Rows() != 4000 {
					b.Fatal(table.Rows())
				}
			}
		})
	}
}

// BenchmarkMemory reports what a table keeps of a row.
func BenchmarkMemory(b *testing.B) {
	var file bytes.Buffer
	if _, err := synth.Write(&file, synth.Options{Rollouts: 4000, Seed: 3}); err != nil {
		b.Fatal(err)
	}
	src := []source.Source{source.Bytes("rollouts.jsonl", file.Bytes())}
	for b.Loop() {
		table, err := Read(context.Background(), src, Options{})
		if err != nil {
			b.Fatal(err)
		}
		bytes := int64(0)
		for i := range table.sources {
			for _, p := range table.sources[i].parts {
				bytes += p.Memory()
			}
		}
		b.ReportMetric(float64(bytes)/float64(table.Rows()), "B/row(≤512)")
	}
}
