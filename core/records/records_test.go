package records

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// a run is the files of a run as texts. Rows are shortened: T, I, N, R, C stand for the usual members.
type run struct {
	manifest                  string // JSON of next_attempt, empty for a run without manifest
	imported                  bool
	inputs, failures, results []string
}

var short = strings.NewReplacer(
	"T:", `"_ng_task_index":`, "I:", `"_ng_rollout_index":`, "N:", `"_ng_attempt_index":`, "ID:", `"_ng_rollout_id":`,
	"R:", `"_ng_run_id":`, "C:", `"_ng_failure_class":`, "F:", `"_ng_failure_terminal":`, "M:", `"mask_sample":`, "W:", `"reward":`)

type files [3]string

func (f *files) Saved(file File, offset, length int64) (value.Value, error) {
	return value.Strict([]byte(f[file][offset : offset+length]))
}

func texts(rows []string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(short.Replace(row) + "\n")
	}
	return b.String()
}

func walk(t *testing.T, text string, f func(l *jsonl.Line)) {
	s := jsonl.NewSplitter(0)
	each := func(l *jsonl.Line) bool { f(l); return true }
	s.Feed([]byte(text), each)
	s.Finish(each)
}

// load indexes a run; saved may be nil.
func load(t *testing.T, r run, saved Saved) *Index {
	t.Helper()
	var m *store.Manifest
	if r.manifest != "" {
		var faults any
		m, _ = store.ReadManifest([]byte(`{"run_id":"r1","source_digest":"","materialized_digest":"","config_digest":"","next_attempt":` + r.manifest + `}`))
		if m == nil {
			t.Fatal(faults)
		}
		m.Imported = r.imported
	}
	f := &files{texts(r.inputs), texts(r.failures), texts(r.results)}
	if saved == nil {
		saved = f
	}
	ix := NewIndex(m, Place{Run: "run", Inputs: "inputs", Failures: "failures", Results: "results", Manifest: "manifest"}, new(Names))
	var rows Reader
	var lines store.Reader
	for file := Inputs; file <= Results; file++ {
		lines = store.Reader{}
		walk(t, f[file], func(l *jsonl.Line) {
			v, ok := lines.Read(l)
			if !ok {
				t.Fatalf("%s is no row", l.Bytes)
			}
			row := rows.Read(v, file, lines.Account.Lines, l.Offset, l.Size())
			if file == Inputs {
				ix.Expect(row)
				return
			}
			// A stored row must do as well as the one it was made of.
			stored, rest, err := ParseRow(row.Append(nil))
			if err != nil || len(rest) != 0 {
				t.Fatalf("%s: %v", l.Bytes, err)
			}
			stored.Line, stored.Offset, stored.Length = row.Line, row.Offset, row.Length
			if _, err := ix.Add(&stored, saved); err != nil {
				t.Fatal(err)
			}
		})
	}
	ix.Finish()
	return ix
}

// said lists the findings in short form.
func said(list []finding.Finding) []string {
	out := []string{}
	for _, f := range list {
		s := f.ID
		if f.Line > 0 {
			s += fmt.Sprintf(" %s:%d", f.File, f.Line)
		}
		if f.Rollout != "" {
			s += " " + f.Rollout
		}
		if f.Known {
			s += "#" + f.Attempt.String()
		}
		if len(f.Values) > 0 {
			s += " " + value.Object(f.Values...).String()
		}
		out = append(out, s)
	}
	return out
}

func expectRuns(n int) []string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{T:%d,I:0,"agent_ref":{"name":"a"}}`, i))
	}
	return rows
}

// TestWorkedExample is spec records §8.1.
func TestWorkedExample(t *testing.T) {
	r := run{
		manifest: `{"0-0":1,"1-0":2,"2-0":1,"3-0":3}`, inputs: expectRuns(5),
		failures: []string{`{T:1,I:0,N:0,R:"r1",C:"transient"}`, `{T:2,I:0,N:0,R:"r1",C:"skipped",F:true}`, `{T:3,I:0,N:0,R:"r1",C:"legitimate"}`, `{T:3,I:0,N:1,R:"r1",C:"legitimate"}`},
		results:  []string{`{T:0,I:0,N:0,R:"r1",W:0.0}`, `{T:1,I:0,N:1,R:"r1",W:1,M:true}`},
	}
	s := Settings{MaxAttempts: 3}
	ix := load(t, r, nil)
	if len(ix.Findings) > 0 {
		t.Fatal(said(ix.Findings))
	}
	var got []Disposition
	for i := range ix.Len() {
		got = append(got, ix.Rollout(i, s).Disposition)
	}
	if want := []Disposition{Success, Success, Omission, Unknown, Unknown}; !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
	c := ix.Coverage(s)
	const want = `{"schema_version":2,"selection_policy":"latest_allocated","run_id":"r1","expected":5,"successful":2,"measured":1,"masked":1,"unscored":0,"failed":0,` +
		`"intentionally_omitted":1,"unknown":2,"never_dispatched":1,"attempts":7,"counted_failures":3,"attempts_exhausted":0,"max_rollout_attempts":3,` +
		`"retry_terminal_timeouts":false,"completion_fraction":0.4,"complete":false,"reconciled":false,"identity_verified":true}`
	if got := string(c.Document().Append(nil, value.Plain)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := pending(ix, s); !reflect.DeepEqual(got, []string{"3-0#3", "4-0#0"}) {
		t.Error(got)
	}
	r.failures = append(r.failures, `{T:3,I:0,N:2,R:"r1",C:"legitimate"}`)
	ix = load(t, r, nil)
	c = ix.Coverage(s)
	if c.Failed != 1 || c.Unknown != 1 || c.CountedFailures != 4 || c.Exhausted != 1 {
		t.Errorf("%+v", c)
	}
	if got := pending(ix, s); !reflect.DeepEqual(got, []string{"4-0#0"}) {
		t.Error(got)
	}
	if got := string(c.File()); !strings.HasPrefix(got, "{\n  \"schema_version\": 2,\n") || !strings.HasSuffix(got, "\n  \"identity_verified\": true\n}\n") {
		t.Error(got)
	}
}

func pending(ix *Index, s Settings) []string {
	list := []string{}
	for _, p := range ix.Pending(s) {
		text := ix.Rollout(p.Rollout, s).ID + "#" + p.Attempt.String()
		if p.Reuse {
			text += " reuse"
		}
		list = append(list, text)
	}
	return list
}

// TestIdentities is the table of spec records §2.
func TestIdentities(t *testing.T) {
	for _, test := range []struct{ row, id string }{
		{`{T:3,I:0}`, "3-0"}, {`{T:3,I:0,N:2}`, "3-0"}, {`{ID:"eval.7",T:3,I:0}`, "eval.7"}, {`{ID:null,T:0,I:1}`, "0-1"}, {`{T:true,I:0}`, "True-0"}, {`{T:0,I:false}`, "0-False"},
		{`{T:2.0,I:0}`, "2.0-0"}, {`{T:"9",I:"0"}`, "9-0"}, {`{T:9007199254740993,I:18446744073709551615}`, "9007199254740993-18446744073709551615"}, {`{T:1,I:-1}`, "1--1"}, {`{T:1.5,I:1e15}`, "1.5-1000000000000000.0"},
		{`{T:-1,I:0}`, finding.BadIdentity}, {`{T:"9",I:"a3"}`, finding.BadIdentity}, {`{ID:""}`, finding.BadIdentity}, {`{ID:"a b",T:1,I:1}`, finding.BadIdentity}, {`{ID:5,T:1,I:1}`, finding.BadIdentity},
		{`{T:1e16,I:0}`, finding.BadIdentity}, {`{T:[],I:0}`, finding.BadIdentity}, {`{T:{},I:0}`, finding.BadIdentity}, {`{ID:"x\n"}`, finding.BadIdentity}, {`{ID:[],T:1,I:1}`, finding.BadIdentity},
		{`{T:1}`, finding.NoIdentity}, {`{I:1}`, finding.NoIdentity}, {`{T:null,I:0}`, finding.NoIdentity}, {`{}`, finding.NoIdentity},
	} {
		var lines store.Reader
		var rows Reader
		walk(t, short.Replace(test.row), func(l *jsonl.Line) {
			v, ok := lines.Read(l)
			if !ok {
				t.Fatal(test.row)
			}
			row := rows.Read(v, Results, 1, 0, l.Size())
			got := string(row.ID)
			if got == "" {
				got = row.IdentityFault()
			}
			if got != test.id {
				t.Errorf("%s: %s", test.row, got)
			}
		})
	}
}

// TestChecks covers each refusal of the list K, R, F, A, C and the edge cases of spec records §12.
func TestChecks(t *testing.T) {
	record := func(change string) string {
		return `"_ng_failure_record":{"episode_id":{"rollout_id":"0-0"},"run_id":"r1","source":"collector","delivery":"delivered","failure":{"failure_reason":"x","terminal":false}` + change + `}`
	}
	const one = `{"0-0":1}`
	for _, test := range []struct {
		name string
		run  run
		want []string
	}{
		{"sound", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1"}`}}, nil},
		{"indices equal in value", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:false,I:0.0,ID:"0-0",R:"r1"}`}}, nil},
		{"second input", run{manifest: one, inputs: []string{`{T:0,I:0}`, `{ID:"0-0",T:1,I:1}`}}, []string{`records.duplicate_identity inputs:2 0-0 {"first_line":1}`}},
		{"inputs without identity", run{manifest: `{}`, inputs: []string{`{T:0}`, `{ID:"-"}`}}, []string{`records.no_identity inputs:1`, `records.bad_identity inputs:2`}},
		{"no identity", run{manifest: one, inputs: expectRuns(1), results: []string{`{R:"r1"}`}}, []string{`records.no_identity results:1`}},
		{"not expected", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:7,I:0,R:"r1"}`}}, []string{`records.not_expected results:1 7-0`}},
		{"attempt null", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,N:null,R:"r1"}`}}, []string{`records.bad_attempt results:1 0-0 {"value":null}`}},
		{"attempt float", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,N:0.0,R:"r1"}`}}, []string{`records.bad_attempt results:1 0-0 {"value":0.0}`}},
		{"attempt text", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,N:"0",R:"r1"}`}}, []string{`records.bad_attempt results:1 0-0 {"value":"0"}`}},
		{"attempt negative", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,N:-1,R:"r1"}`}}, []string{`records.bad_attempt results:1 0-0 {"value":-1}`}},
		{"attempt before indices", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:9,I:0,ID:"0-0",N:true,R:"r1"}`}}, []string{`records.bad_attempt results:1 0-0 {"value":true}`}},
		{"id without indices", run{manifest: one, inputs: expectRuns(1), results: []string{`{ID:"0-0",R:"r1"}`}},
			[]string{`records.index_mismatch results:1 0-0#0 {"expected":0,"field":"_ng_task_index","saved":null}`}},
		{"number and text", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:"0",I:0,R:"r1"}`}},
			[]string{`records.index_mismatch results:1 0-0#0 {"expected":0,"field":"_ng_task_index","saved":"0"}`}},
		{"other repeat", run{manifest: one, inputs: expectRuns(1), results: []string{`{ID:"0-0",T:0,I:1,R:"r1"}`}},
			[]string{`records.index_mismatch results:1 0-0#0 {"expected":0,"field":"_ng_rollout_index","saved":1}`}},
		{"beyond 2^53", run{manifest: `{"9007199254740993-0":1}`, inputs: []string{`{T:9007199254740992,I:0}`, `{T:9007199254740993,I:0}`}, results: []string{`{T:9007199254740993,I:0,R:"r1"}`, `{T:9007199254740992,I:0,ID:"9007199254740993-0",R:"r1"}`}},
			[]string{`records.index_mismatch results:2 9007199254740993-0#0 {"expected":9007199254740993,"field":"_ng_task_index","saved":9007199254740992}`}},
		{"run", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r2"}`}}, []string{`records.foreign_run results:1 0-0#0 {"expected":"r1","saved":"r2"}`}},
		{"untagged", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0}`}}, []string{`records.foreign_run results:1 0-0#0 {"expected":"r1","saved":null}`}},
		{"run id null in an import", run{inputs: expectRuns(1), results: []string{`{T:0,I:0,R:null}`}}, []string{`records.foreign_run results:1 0-0#0 {"expected":null,"saved":null}`}},
		{"result in the sidecar", run{manifest: one, inputs: expectRuns(1), failures: []string{`{T:0,I:0,R:"r1",C:null}`}}, []string{`records.wrong_artifact failures:1 0-0 {"class":null}`}},
		{"failure among results", run{manifest: one, inputs: expectRuns(1), results: []string{`{C:""}`}}, []string{`records.wrong_artifact results:1 {"class":""}`}},
		{"record null", run{manifest: one, inputs: expectRuns(1), failures: []string{`{T:0,I:0,R:"r1",C:"x","_ng_failure_record":null}`}},
			[]string{`records.bad_failure_record failures:1 0-0#0 {"errors":[{"path":"","type":"model_type"}]}`}},
		{"record sound", run{manifest: one, inputs: expectRuns(1), failures: []string{`{T:0,I:0,R:"r1",C:"agent_request_failed",` + record("") + `}`}}, nil},
		{"record of a result", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1",` + record("") + `}`}}, []string{`records.inconsistent_failure_record results:1 0-0#0 {"fields":["class"]}`}},
		{"record at odds", run{manifest: `{"0-0":2}`, inputs: expectRuns(1), failures: []string{`{T:0,I:0,N:1,R:"r1",C:"x",F:"false",` + record(`,"run_id":"r2"`) + `}`}},
			[]string{`records.inconsistent_failure_record failures:1 0-0#1 {"fields":["run_id","episode_id","class","terminal"]}`}},
		{"record of an import", run{inputs: expectRuns(1), failures: []string{`{T:0,I:0,C:"agent_request_failed",` + record("") + `}`}}, []string{`records.inconsistent_failure_record failures:1 0-0#0 {"fields":["run_id"]}`}},
		{"not reserved", run{manifest: one, inputs: expectRuns(2), results: []string{`{T:0,I:0,N:1,R:"r1"}`, `{T:1,I:0,R:"r1"}`}},
			[]string{`records.unreserved_attempt results:1 0-0#1 {"reserved":1}`, `records.unreserved_attempt results:2 1-0#0 {"reserved":0}`}},
		{"tagged in an import without reservation", run{manifest: `{}`, imported: true, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1"}`}}, []string{`records.unreserved_attempt results:1 0-0#0 {"reserved":0}`}},
		{"equal twice", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1",W:1}`, `{W:1.0,T:0,I:0,R:"r1"}`}}, nil},
		{"different twice", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1",W:1}`, `{T:0,I:0,R:"r1",W:1.5}`}},
			[]string{`records.conflicting_outcome results:2 0-0#0 {"first_file":"results","first_line":1}`}},
		{"attempt written and not", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1"}`, `{T:0,I:0,R:"r1",N:0}`}},
			[]string{`records.conflicting_outcome results:2 0-0#0 {"first_file":"results","first_line":1}`}},
		{"two files", run{manifest: one, inputs: expectRuns(1), failures: []string{`{T:0,I:0,R:"r1",C:"x"}`}, results: []string{`{T:0,I:0,R:"r1"}`}},
			[]string{`records.conflicting_outcome results:1 0-0#0 {"first_file":"failures","first_line":1}`}},
		{"unknown reservations", run{manifest: `{"9-9":1,"0-0":1,"10-0":5}`, inputs: expectRuns(1)}, []string{`records.unknown_reservation {"rollouts":["10-0","9-9"]}`}},
		{"response is a list", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1","response":[1]}`}}, []string{`records.untyped_crash results:1 0-0#0 {"field":"response"}`}},
		{"metadata is a text", run{manifest: one, inputs: expectRuns(1), failures: []string{`{T:0,I:0,R:"r1",C:"x","elapsed_seconds":1,"response":{"metadata":"m"}}`}}, []string{`records.untyped_crash failures:1 0-0#0 {"field":"response.metadata"}`}},
		{"evidence", run{manifest: one, inputs: expectRuns(1), failures: []string{`{"_ng_omitted_rollout":true}`, `{T:0,I:0,"_ng_omitted_rollout":1,N:"x"}`}}, nil},
		{"half a migration", run{manifest: one, inputs: expectRuns(1),
			failures: []string{`{T:0,I:0,R:"r1",C:"judge_invalid","_ng_migrated_invalid_judge_response":true,"invalid_judge_response":true,"reuse_cached_deliverable":true}`},
			results:  []string{`{T:0,I:0,R:"r1","invalid_judge_response":true}`}}, []string{`outcomes.migration_pair results:1 0-0#0 {"failure_line":1}`}},
		{"one finding a row", run{manifest: one, inputs: expectRuns(1), results: []string{`{T:0,I:0,N:9,R:"r2","response":[1]}`}}, []string{`records.foreign_run results:1 0-0#9 {"expected":"r1","saved":"r2"}`}},
	} {
		ix := load(t, test.run, nil)
		if got := said(ix.Findings); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n %s\nwant\n %s", test.name, strings.Join(got, "\n "), strings.Join(test.want, "\n "))
		}
	}
}

func TestFirstErrorSkipsNotes(t *testing.T) {
	ix := load(t, run{manifest: `{"0-0":1,"1-0":1}`, inputs: expectRuns(2),
		failures: []string{`{T:0,I:0,R:"r1",C:"judge_invalid","_ng_migrated_invalid_judge_response":true,"invalid_judge_response":true}`},
		results:  []string{`{T:0,I:0,R:"r1","invalid_judge_response":true}`, `{T:5,I:0,R:"r1"}`}}, nil)
	if ix.FirstError != finding.NotExpected {
		t.Error(ix.FirstError)
	}
}

// TestAssignedAttempts is the example of spec records §5 and what goes with it.
func TestAssignedAttempts(t *testing.T) {
	attempts := func(r run) []string {
		ix := load(t, r, nil)
		list := []string{}
		for _, a := range ix.Attempts(0) {
			list = append(list, fmt.Sprintf("%s %d:%d", a.Number, a.File, a.Line))
		}
		return append(list, said(ix.Findings)...)
	}
	x, y := `{T:0,I:0,C:"x"}`, `{T:0,I:0,C:"y"}`
	for _, test := range []struct {
		name string
		run  run
		want []string
	}{
		{"three failures, then a result", run{inputs: expectRuns(1), failures: []string{x, y, y}, results: []string{`{T:0,I:0}`}}, []string{"0 1:1", "1 1:2", "2 1:3", "3 2:1"}},
		{"a number in the sidecar", run{inputs: expectRuns(1), failures: []string{x, y, y, `{T:0,I:0,C:"z",N:5}`}, results: []string{`{T:0,I:0}`}}, []string{"0 1:1", "1 1:2", "2 1:3", "5 1:4", "6 2:1"}},
		{"equal rows that name their attempt", run{inputs: expectRuns(1), failures: []string{`{T:0,I:0,C:"z",N:5}`, `{N:5,T:0,I:0,C:"z"}`}}, []string{"5 1:2"}},
		{"different rows that name one attempt", run{inputs: expectRuns(1), failures: []string{`{T:0,I:0,C:"z",N:5}`, `{T:0,I:0,C:"w",N:5}`}}, []string{"5 1:1", "6 1:2"}},
		{"the number before", run{inputs: expectRuns(1), failures: []string{`{T:0,I:0,C:"z",N:5}`, `{T:0,I:0,C:"w",N:1}`, x}}, []string{"1 1:2", "5 1:1", "6 1:3"}},
		{"null is no number", run{inputs: expectRuns(1), failures: []string{`{T:0,I:0,C:"z",N:null}`, x}}, []string{"0 1:2", `records.bad_attempt failures:1 0-0 {"value":null}`}},
		{"a class among results and none among failures", run{inputs: expectRuns(1), failures: []string{`{T:0,I:0}`}, results: []string{x}}, []string{"0 1:1", "1 2:1"}},
		{"tagged rows do not move the counter", run{manifest: `{"0-0":3}`, imported: true, inputs: expectRuns(1), failures: []string{`{T:0,I:0,N:0,R:"r1",C:"x"}`, y}}, []string{"0 1:1", "1 1:2"}},
		{"a tagged row for a number that was given", run{manifest: `{"0-0":3}`, imported: true, inputs: expectRuns(1), failures: []string{y, `{T:0,I:0,N:0,R:"r1",C:"x"}`}},
			[]string{"0 1:1", `records.conflicting_outcome failures:2 0-0#0 {"first_file":"failures","first_line":1}`}},
		{"the number behind is taken too", run{manifest: `{"0-0":3}`, imported: true, inputs: expectRuns(1), failures: []string{`{T:0,I:0,N:0,R:"r1",C:"x"}`, `{T:0,I:0,N:1,R:"r1",C:"x"}`, y}},
			[]string{"0 1:1", "1 1:2", `records.conflicting_outcome failures:3 0-0#1 {"first_file":"failures","first_line":2}`}},
	} {
		if got := attempts(test.run); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q\nwant %q", test.name, got, test.want)
		}
	}
}

// TestEdgeCases is spec records §12 as far as it speaks of numbers.
func TestEdgeCases(t *testing.T) {
	failure := func(n int, more string) string { return fmt.Sprintf(`{T:0,I:0,N:%d,R:"r1",%s}`, n, more) }
	unsent := func(n int) string {
		return failure(n, fmt.Sprintf(`C:"agent_request_failed","_ng_failure_record":{"episode_id":{"rollout_id":"0-0","attempt":%d},"run_id":"r1","source":"collector","delivery":"not_sent","failure":{"failure_reason":"x","terminal":false}}`, n))
	}
	for _, test := range []struct {
		name  string
		run   run
		s     Settings
		check func(*Index, Coverage, Rollout) bool
	}{
		{"nothing expected", run{manifest: `{}`}, Settings{3, false}, func(_ *Index, c Coverage, _ Rollout) bool { return c.Fraction() == 1 && c.Complete() && c.Reconciled() }},
		{"empty class", run{manifest: `{"0-0":1}`, failures: []string{failure(0, `C:""`)}}, Settings{3, false}, func(_ *Index, c Coverage, r Rollout) bool { return r.Disposition == Failure && c.CountedFailures == 1 }},
		{"equal twice", run{manifest: `{"0-0":1}`, results: []string{failure(0, `W:1`), failure(0, `W:1.0`)}}, Settings{3, false}, func(ix *Index, _ Coverage, _ Rollout) bool {
			a := ix.Attempts(0)
			return len(a) == 1 && a[0].Line == 2 && len(ix.Duplicates) == 1 && ix.Duplicates[0].FirstAt == 1
		}},
		{"reserved behind a success", run{manifest: `{"0-0":2}`, results: []string{failure(0, `W:1`)}}, Settings{3, false}, func(_ *Index, c Coverage, r Rollout) bool {
			return r.Disposition == Unknown && c.Attempts.String() == "2" && r.Retryable
		}},
		{"interruptions cost nothing", run{manifest: `{"0-0":3}`, failures: []string{failure(0, `C:"x"`)}}, Settings{3, false}, func(_ *Index, c Coverage, r Rollout) bool {
			return r.Disposition == Unknown && c.CountedFailures == 1 && r.Retryable && !r.Exhausted
		}},
		{"three failures", run{manifest: `{"0-0":3}`, failures: []string{failure(0, `C:"x"`), failure(1, `C:"x"`), failure(2, `C:"x"`)}}, Settings{3, false}, func(ix *Index, c Coverage, r Rollout) bool {
			return r.Disposition == Failure && c.Exhausted == 1 && len(ix.Pending(c.Settings)) == 0
		}},
		{"three unsent failures", run{manifest: `{"0-0":3}`, failures: []string{unsent(0), unsent(1), unsent(2)}}, Settings{3, false}, func(ix *Index, c Coverage, r Rollout) bool {
			return r.Disposition == Failure && c.CountedFailures == 0 && len(ix.Pending(c.Settings)) == 1
		}},
		{"skip without the flag", run{manifest: `{"0-0":1}`, failures: []string{failure(0, `C:"skipped"`)}}, Settings{3, false}, func(_ *Index, _ Coverage, r Rollout) bool { return r.Disposition == Failure && r.Retryable }},
		{"the same under the override", run{manifest: `{"0-0":1}`, failures: []string{failure(0, `C:"skipped"`)}}, Settings{3, true}, func(_ *Index, _ Coverage, r Rollout) bool { return r.Disposition == Failure && !r.Retryable }},
		{"time limit", run{manifest: `{"0-0":1}`, failures: []string{failure(0, `C:"timeout_exceeded",F:true`)}}, Settings{3, false}, func(_ *Index, c Coverage, r Rollout) bool { return !r.Retryable && c.CountedFailures == 0 }},
		{"the same under the override", run{manifest: `{"0-0":1}`, failures: []string{failure(0, `C:"timeout_exceeded",F:true`)}}, Settings{3, true}, func(_ *Index, c Coverage, r Rollout) bool { return r.Retryable && c.CountedFailures == 1 }},
		{"skip, then success", run{manifest: `{"0-0":2}`, failures: []string{failure(0, `C:"skipped",F:true`)}, results: []string{failure(1, `W:1`)}}, Settings{3, false}, func(_ *Index, _ Coverage, r Rollout) bool { return r.Disposition == Success }},
		{"omission mark on a result", run{manifest: `{"0-0":1}`, results: []string{failure(0, `W:1,"_ng_omitted":"false"`)}}, Settings{3, false}, func(_ *Index, _ Coverage, r Rollout) bool { return r.Disposition == Omission }},
		{"no omission mark", run{manifest: `{"0-0":1}`, results: []string{failure(0, `W:1,"_ng_omitted":""`)}}, Settings{3, false}, func(_ *Index, _ Coverage, r Rollout) bool { return r.Disposition == Success }},
		{"omission without final flag", run{manifest: `{"0-0":1}`, failures: []string{failure(0, `C:"skipped","_ng_omitted":true`)}}, Settings{3, false}, func(_ *Index, c Coverage, r Rollout) bool { return r.Disposition == Omission && c.CountedFailures == 1 }},
		{"reservation behind an omission", run{manifest: `{"0-0":2}`, failures: []string{failure(0, `C:"skipped",F:true,"_ng_omitted":true,"reuse_cached_deliverable":true`)}}, Settings{3, false}, func(ix *Index, c Coverage, r Rollout) bool {
			p := ix.Pending(c.Settings)
			return r.Disposition == Unknown && len(p) == 1 && p[0].Attempt.String() == "2" && !p[0].Reuse
		}},
		{"deliverable", run{manifest: `{"0-0":3}`, failures: []string{failure(1, `C:"x","reuse_cached_deliverable":true`), failure(0, `C:"x"`)}}, Settings{3, false}, func(ix *Index, c Coverage, _ Rollout) bool { return ix.Pending(c.Settings)[0].Reuse }},
		{"only reservations", run{manifest: `{"0-0":99999999999999999999}`}, Settings{3, false}, func(ix *Index, c Coverage, _ Rollout) bool {
			return c.Unknown == 1 && c.Attempts.String() == "99999999999999999999" && ix.Pending(c.Settings)[0].Attempt.String() == "99999999999999999999"
		}},
		{"attempts beyond 64 bits", run{inputs: expectRuns(1), results: []string{`{T:0,I:0,N:18446744073709551615}`, `{T:0,I:0}`}}, Settings{3, false}, func(ix *Index, c Coverage, _ Rollout) bool {
			a := ix.Attempts(0)
			return len(a) == 2 && a[1].Number.String() == "18446744073709551616" && c.Attempts.String() == "18446744073709551617"
		}},
	} {
		if test.run.inputs == nil && test.name != "nothing expected" {
			test.run.inputs = expectRuns(1)
		}
		ix := load(t, test.run, nil)
		if len(ix.Findings) > 0 {
			t.Errorf("%s: %q", test.name, said(ix.Findings))
		}
		c := ix.Coverage(test.s)
		var r Rollout
		if ix.Len() > 0 {
			r = ix.Rollout(0, test.s)
		}
		if !test.check(ix, c, r) {
			t.Errorf("%s: %+v %+v %+v", test.name, c, r, ix.Attempts(0))
		}
		if c.Successful != c.Measured+c.Masked+c.Unscored || c.Expected != c.Successful+c.Failed+c.Omitted+c.Unknown || c.NeverDispatched > c.Unknown || c.Complete() && !c.Reconciled() {
			t.Errorf("%s: %+v does not add up", test.name, c)
		}
	}
}
