package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
)

// What is taken from columns is what the row's digest says.
func TestQuickRowsAreItems(t *testing.T) {
	sample, _ := sampleDesk(t)
	rows := []string{
		`{"_ng_task_index":"x","_ng_rollout_index":-4,"reward":9007199254740993,"response":{"usage":{"output_tokens":9007199254740995}}}`,
		`{"_ng_task_index":12345678901234567890,"_ng_rollout_index":true,"reward":"1","agent_ref":{"name":""},"response":{"usage":{"output_tokens":1e2}}}`,
		`{"reward":true,"mask_sample":"yes","agent_ref":null,"response":{}}`, `{"reward":-0.0,"response":{}}`, `{"reward":1E400}`, `[1]`, `{"cut`,
		`{"reward":` + strings.Repeat("9", 400) + `,"response":{}}`,
	}
	odd := deskOf(t, "rollouts.jsonl", []byte(strings.Join(rows, "\n")))
	for name, d := range map[string]*Desk{"sample": sample, "odd": odd} {
		c := d.choose(State{})
		c.tally.count(c.table, c.rules)
		c.table.Each(0, func(r *analysis.Row) bool {
			for _, f := range FilterFields() {
				q := quickRow{c: c, row: *r}
				got, want := q.Field(f.Name), c.itemOf(r).Field(f.Name)
				if got.String() != want.String() && !(got.String() == "0" && want.String() == "-0") && fmt.Sprint(double(got.String())) != fmt.Sprint(double(want.String())) {
					t.Errorf("%s, line %d: %s is %v, want %v", name, r.Line, f.Name, got, want)
				}
			}
			return true
		})
		for i := range rolloutColumns {
			var quick, slow ranking
			c.table.Each(0, func(r *analysis.Row) bool {
				q := quickRow{c: c, row: *r}
				q.rank(&quick, &rolloutColumns[i])
				rolloutColumns[i].rank(&slow, c.itemOf(r))
				return true
			})
			for _, down := range []bool{false, true} {
				a, b := ranking{rows: slices.Clone(quick.rows), texts: quick.texts, keys: quick.keys}, ranking{rows: slices.Clone(slow.rows), texts: slow.texts, keys: slow.keys}
				if got, want := a.order(down), b.order(down); !reflect.DeepEqual(got, want) {
					t.Errorf("%s by %s: %v, want %v", name, rolloutColumns[i].Key, got, want)
				}
			}
		}
	}
}
