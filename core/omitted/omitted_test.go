package omitted

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// a run is the files of a run as texts; T, I, N, C, F and E stand for the usual members.
type run struct {
	reserved                  string // JSON of next_attempt
	inputs, failures, results []string
}

var short = strings.NewReplacer("T:", `"_ng_task_index":`, "I:", `"_ng_rollout_index":`, "N:", `"_ng_attempt_index":`,
	"C:", `"_ng_failure_class":`, "F:", `"_ng_failure_terminal":true`, "E:", `"_ng_omitted_rollout":true`, "R:", `"_ng_run_id":"r"`)

type loaded struct {
	ix       *records.Index
	legacy   *records.Legacy
	evidence *Evidence
}

func (l *loaded) Saved(records.File, int64, int64) (value.Value, error) {
	return value.Value{}, fmt.Errorf("no row is there twice")
}

func load(t *testing.T, r run) *loaded {
	t.Helper()
	var m *store.Manifest
	if r.reserved != "" {
		m, _ = store.ReadManifest([]byte(`{"run_id":"r","source_digest":"","materialized_digest":"","config_digest":"","next_attempt":` + r.reserved + `}`))
	}
	names := new(records.Names)
	l := &loaded{records.NewIndex(m, records.Place{}, names), records.NewLegacy(records.Place{}, names), new(Evidence)}
	var rows records.Reader
	for file, list := range [][]string{r.inputs, r.failures, r.results} {
		var lines store.Reader
		s := jsonl.NewSplitter(0)
		s.Feed([]byte(short.Replace(strings.Join(list, "\n")+"\n")), func(line *jsonl.Line) bool {
			v, ok := lines.Read(line)
			if !ok {
				return true
			}
			row := rows.Read(v, records.File(file), lines.Account.Lines, line.Offset, line.Size())
			if row.File == records.Inputs {
				l.ix.Expect(row)
				l.legacy.Input(row)
				return true
			}
			l.evidence.Add(row)
			l.legacy.Add(row)
			if m != nil || len(row.RunID) == 0 {
				if _, err := l.ix.Add(row, l); err != nil {
					t.Fatal(err)
				}
			}
			return true
		})
	}
	l.ix.Finish()
	if len(l.ix.Findings) > 0 {
		t.Fatalf("%+v", l.ix.Findings)
	}
	return l
}

func inputs(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{T:%d,I:0,"agent_ref":{"name":"a"}}`, i))
	}
	return list
}

func TestIndexed(t *testing.T) {
	l := load(t, run{
		reserved: `{"0-0":1,"1-0":1,"2-0":1,"3-0":1,"4-0":3,"5-0":2,"6-0":1,"7-0":2}`, inputs: inputs(9),
		failures: []string{
			`{T:1,I:0,R:,C:"skipped",F:,"_ng_omitted":true,"_ng_failure_message":"licence"}`, `{T:2,I:0,R:,C:"skipped",F:,"error":"long"}`,
			`{T:3,I:0,R:,C:"x"}`, `{T:4,I:0,R:,C:"x"}`, `{T:4,I:0,N:1,R:,C:"x"}`, `{T:4,I:0,N:2,R:,C:"x","error":"e"}`, `{T:5,I:0,N:1,R:,C:"permanent",F:}`,
			`{T:7,I:0,R:,C:"x"}`, `{T:3,I:0,E:}`, `{T:3,I:0,E:,C:"cancelled"}`,
		},
		results: []string{`{T:0,I:0,R:}`, `{T:6,I:0,R:,"_ng_omitted":1}`},
	})
	var got []string
	var tally Tally
	Indexed(l.ix, records.Settings{MaxAttempts: 3}, l.evidence, func(o Omission) {
		attempt := "-"
		if o.HasAttempt {
			attempt = o.Attempt.String()
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %q %d", o.ID, o.State, attempt, o.Class, o.Reason, o.Evidence))
		tally.Add(o)
	})
	want := []string{
		`1-0 omitted.intentional 0 "skipped" "licence" 0`, `2-0 omitted.skip 0 "skipped" "long" 0`, `3-0 failed.retryable 0 "x" "" 2`, `4-0 failed.exhausted 2 "x" "e" 0`,
		`5-0 failed.terminal 1 "permanent" "" 0`, `6-0 omitted.intentional 0  "" 0`, `7-0 unknown.interrupted 1  "" 0`, `8-0 unknown.never_dispatched -  "" 0`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := said(tally.Findings("run", "f", 1)); !slices.Equal(got, []string{`omitted.intentional {"reasons":["","licence"],"rollouts":2}`, `omitted.skip {"reasons":["long"],"rollouts":1}`}) {
		t.Error(got)
	}
	if got := said(tally.Findings("run", "f", 0)); len(got) != 3 || got[2] != `omitted.all {"omitted":3}` {
		t.Error(got)
	}
}

func said(list []finding.Finding) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, f.ID+" "+value.Object(f.Values...).String())
	}
	return out
}

func TestPaired(t *testing.T) {
	l := load(t, run{inputs: inputs(6), failures: []string{
		`{T:1,I:0,C:"skipped",F:}`, `{T:2,I:0,C:"x"}`, `{T:3,I:0,C:"x"}`, `{T:3,I:0,C:"x"}`, `{T:3,I:0,C:"y","error":"last"}`, `{T:4,I:0,C:"permanent",F:}`, `{T:4,I:0,C:"x"}`, `{T:5,I:0,E:}`},
		results: []string{`{T:0,I:0}`}})
	var got []string
	Paired(l.legacy, records.Settings{MaxAttempts: 3}, l.evidence, func(o Omission) {
		attempt := "-"
		if o.HasAttempt {
			attempt = o.Attempt.String()
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %q %d", o.ID, o.State, attempt, o.Class, o.Reason, o.Evidence))
	})
	want := []string{
		`1-0 omitted.skip 0 "skipped" "" 0`, `2-0 failed.retryable 0 "x" "" 0`, `3-0 failed.exhausted 2 "y" "last" 0`, `4-0 failed.terminal 1 "x" "" 0`, `5-0 unknown.missing -  "" 1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestEvidence(t *testing.T) {
	l := load(t, run{reserved: `{}`, inputs: inputs(2), failures: []string{
		`{T:0,I:0,E:,C:"kill_shaped"}`, `{T:0,I:0,E:,"_ng_dispatch_drained":1}`, `{T:7,I:0,E:,"_ng_unrouted_run_error":true,C:"cancelled"}`, `{E:,C:"cancelled"}`}, results: []string{`{T:1,I:0,E:}`}})
	got := said(l.evidence.Findings(records.Place{Run: "run", Failures: "f", Results: "o"}, l.ix))
	if want := []string{`omitted.unknown_identity {}`, `omitted.unknown_identity {}`, `omitted.evidence_rows {"interrupted":2,"never_started":2,"unrouted":1}`}; !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := said(l.evidence.Findings(records.Place{}, nil)); len(got) != 1 {
		t.Error(got)
	}
	if new(Evidence).Findings(records.Place{}, l.ix) != nil || (*Evidence)(nil).About("x") != 0 {
		t.Error("evidence out of nothing")
	}
}

func TestStates(t *testing.T) {
	if len(States) != 8 {
		t.Errorf("%d states", len(States))
	}
	for _, s := range States {
		if s.Title == "" || s.Text == "" {
			t.Errorf("%+v", s)
		}
	}
}
