package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// sampleRows gives the rows of one sample, or of all.
func sampleRows(t testing.TB, sample string) [][]byte {
	names, err := filepath.Glob(filepath.Join("testdata", sample, "rollouts.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no samples %s: %v", sample, err)
	}
	var rows [][]byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range bytes.Split(text, []byte("\n")) {
			if len(row) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// TestGolden holds the class of every row's trajectory against the report of the reference. The rows of the
// samples have indices of their own and stand in order.
func TestGolden(t *testing.T) {
	for sample, unreadable := range map[string]int{"s08-check-errors": 0, "s10-invalid-trajectory": 46, "s11-gap-codes": 0} {
		report, err := os.ReadFile(filepath.Join("testdata", sample, "rollout_verdicts.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, line := range bytes.Split(bytes.TrimSpace(report), []byte("\n")) {
			var verdict struct {
				Task     json.RawMessage `json:"_ng_task_index"`
				Rollout  json.RawMessage `json:"_ng_rollout_index"`
				Findings []struct {
					Check  string
					Detail struct{ Reason, Error string }
				}
			}
			if err := json.Unmarshal(line, &verdict); err != nil {
				t.Fatal(err)
			}
			class := ""
			for _, f := range verdict.Findings {
				if f.Check == "record_unreadable" {
					class = f.Detail.Error
				}
			}
			want[fmt.Sprintf("%s-%s", verdict.Task, verdict.Rollout)] = class
		}
		var s jsonscan.Scanner
		var r Reader
		seen, bad := 0, 0
		for _, row := range sampleRows(t, sample) {
			v, err := s.Scan(row)
			if err != nil {
				t.Fatal(err)
			}
			key := fmt.Sprintf("%s-%s", v.Get("_ng_task_index").Raw(), v.Get("_ng_rollout_index").Raw())
			class, known := want[key]
			if !known {
				t.Errorf("%s: row %s has no verdict", sample, key)
			}
			seen++
			trajectory := v.Get("ng_trajectory")
			if trajectory.IsNull() {
				if class != "" {
					t.Errorf("%s: row %s is %s without a trajectory", sample, key, class)
				}
				continue
			}
			got := ""
			if _, err = r.Read(trajectory); err != nil {
				got = err.(*Invalid).Class
				bad++
			}
			if got != class {
				t.Errorf("%s: row %s: %q (%v), the reference says %q", sample, key, got, err, class)
			}
		}
		if seen != len(want) || bad != unreadable {
			t.Errorf("%s: %d rows, %d unreadable; want %d and %d", sample, seen, bad, len(want), unreadable)
		}
	}
}

// TestAllocations: a reader that has seen rows of a kind reads more of them without any memory.
func TestAllocations(t *testing.T) {
	var values []jsonscan.Value
	for _, row := range sampleRows(t, "s11-gap-codes") {
		values = append(values, scan(t, string(row)).Get("ng_trajectory"))
	}
	var r Reader
	read := func() {
		for _, v := range values {
			if _, err := r.Read(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	read()
	if n := testing.AllocsPerRun(5, read); n > 0 {
		t.Errorf("%v allocations for %d rows", n, len(values))
	}
}

func BenchmarkRead(b *testing.B) {
	for _, sample := range []string{"s10-invalid-trajectory", "s11-gap-codes"} {
		b.Run(sample, func(b *testing.B) {
			var values []jsonscan.Value
			size := 0
			for _, row := range sampleRows(b, sample) {
				if v := scan(b, string(row)).Get("ng_trajectory"); !v.IsNull() {
					values = append(values, v)
					size += v.Len()
				}
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var r Reader
			for b.Loop() {
				for _, v := range values {
					r.Read(v)
				}
			}
			b.ReportMetric(float64(len(values)), "rows")
		})
	}
}
