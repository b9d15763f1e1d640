package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

func TestLongestFirst(t *testing.T) {
	ix := load(t, run{manifest: `{"0-0":1,"1-0":3,"2-0":1,"3-0":1}`, inputs: expectRuns(5), failures: []string{
		`{T:0,I:0,R:"r1",C:"x","elapsed_seconds":3}`, `{T:1,I:0,R:"r1",C:"x","elapsed_seconds":"inf"}`, `{T:1,I:0,N:1,R:"r1",C:"x"}`, `{T:2,I:0,R:"r1",C:"x","elapsed_seconds":3}`, `{T:3,I:0,R:"r1",C:"x"}`}}, nil)
	list := ix.Pending(Settings{MaxAttempts: 3})
	ix.LongestFirst(list)
	got := []int{}
	for _, p := range list {
		got = append(got, p.Rollout)
	}
	if !slices.Equal(got, []int{1, 0, 2, 3, 4}) {
		t.Error(got)
	}
}

// TestSavedCoverage covers spec records §9.
func TestSavedCoverage(t *testing.T) {
	ix := load(t, run{manifest: `{"0-0":1,"1-0":1}`, inputs: expectRuns(4), failures: []string{`{T:1,I:0,R:"r1",C:"x"}`}, results: []string{`{T:0,I:0,R:"r1",W:1}`}}, nil)
	c := ix.Coverage(Settings{MaxAttempts: 3})
	base := c.Document()
	final := func(scored, zero, imputed int64) value.Value {
		return base.With("scored", value.Int(scored)).With("failures_counted_as_zero", value.Int(zero)).With("imputed", value.Int(imputed))
	}
	for _, test := range []struct {
		name     string
		saved    string
		ix       *Index
		reliable bool
		want     Comparison
		said     []string
	}{
		{"same", base.String(), ix, true, Match, []string{"coverage.match"}},
		{"other spelling", base.With("expected", value.Float(4)).With("complete", value.Int(0)).String(), ix, true, Match, []string{"coverage.match"}},
		{"final", final(1, 0, 0).String(), ix, true, Match, []string{"coverage.match"}},
		{"final with zeros", final(4, 1, 2).String(), ix, true, Match, []string{"coverage.match"}},
		{"fields missing and unknown", base.Without("attempts", "measured").With("new", value.Int(1)).String(), ix, true, Match, []string{"coverage.match"}},
		{"stale", base.With("failed", value.Int(0)).With("unknown", value.Int(3)).String(), ix, true, Stale, []string{`coverage.stale {"fields":["failed","unknown"]}`}},
		{"mismatch", final(1, 0, 0).With("attempts", value.Int(1)).String(), ix, true, Mismatch, []string{`coverage.mismatch {"fields":["attempts"],"later_attempts":true}`}},
		{"mismatch of text", final(1, 0, 0).With("attempts", value.Text("2")).String(), ix, true, Mismatch, []string{`coverage.mismatch {"fields":["attempts"],"later_attempts":false}`}},
		{"settings of the file", base.With("max_rollout_attempts", value.Int(1)).With("attempts_exhausted", value.Int(1)).String(), ix, true, Match, []string{"coverage.match"}},
		{"odd settings", base.With("max_rollout_attempts", value.Text("1")).String(), ix, true, Stale, []string{`coverage.stale {"fields":["max_rollout_attempts"]}`}},
		{"sums", final(9, 3, 1).With("measured", value.Int(0)).With("never_dispatched", value.Int(3)).With("complete", value.Bool(true)).With("failed", value.Int(2)).String(), ix, false, Unreliable,
			[]string{`coverage.inconsistent {"identities":["successful","expected","never_dispatched","complete"]}`, `coverage.scored_sum {"scored":9,"sum":5}`}},
		{"zeros that cannot be", final(3, 2, 1).With("scored", value.Int(4)).String(), ix, true, Match,
			[]string{"coverage.match", `coverage.imputed {"candidates":2,"imputed":1}`, `coverage.counted_zero {"by_class":{"x":1},"failures_counted_as_zero":2}`}},
		{"kinds that are no numbers", base.With("scored", value.Text("x")).With("imputed", value.Null).With("failures_counted_as_zero", value.Bool(true)).String(), ix, true, Match, []string{"coverage.match"}},
		{"other run", base.With("run_id", value.Text("r2")).String(), ix, true, Foreign, []string{`coverage.foreign_run {"expected":"r1","saved":"r2"}`}},
		{"no run", base.Without("run_id").String(), ix, true, Foreign, []string{`coverage.foreign_run {"expected":"r1","saved":null}`}},
		{"no index", base.String(), nil, false, NoIndex, []string{}},
		{"newer", base.With("schema_version", value.Int(3)).String(), ix, true, Unsupported, []string{`coverage.unsupported {"schema_version":3,"selection_policy":"latest_allocated"}`}},
		{"other policy", base.Without("selection_policy").String(), ix, true, Unsupported, []string{`coverage.unsupported {"schema_version":2,"selection_policy":null}`}},
		{"no object", `[]`, ix, true, Unreadable, []string{"coverage.unreadable"}},
		{"cut", `{"schema_version":`, ix, true, Unreadable, []string{"coverage.unreadable"}},
		{"empty", ``, ix, true, Unreadable, []string{"coverage.unreadable"}},
	} {
		got := ReadCoverage("coverage", []byte(test.saved)).Compare("run", test.ix, test.reliable)
		if got.Comparison != test.want || !slices.Equal(said(got.Findings), test.said) {
			t.Errorf("%s: %s %q\nwant %s %q", test.name, got.Comparison, said(got.Findings), test.want, test.said)
		}
	}
	if got := ReadCoverage("c", []byte(base.With("b", value.Int(1)).With("a", value.Int(1)).With("scored", value.Int(1)).String())).Compare("run", ix, true).Extra; !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

func TestReachable(t *testing.T) {
	z := Zeros{ByClass: map[string]int64{"a": 3, "b": 3, "c": 10, "d": 1}}
	want := map[int64]bool{}
	for mask := range 16 {
		sum := int64(0)
		for i, n := range []int64{3, 3, 10, 1} {
			if mask>>i&1 == 1 {
				sum += n
			}
		}
		want[sum] = true
	}
	for n := int64(-1); n <= 18; n++ {
		if got := z.reachable(integer.Of(n)); got != want[n] {
			t.Errorf("%d: %v", n, got)
		}
	}
	many := Zeros{ByClass: map[string]int64{}}
	for i := range 200000 {
		many.ByClass[fmt.Sprint(i)] = 1
	}
	if !many.reachable(integer.Of(123456)) || many.reachable(integer.Of(200001)) {
		t.Error("many classes")
	}
}

// TestManyAttempts looks at 10,000 attempts of one rollout, and as many copies of one attempt.
func TestManyAttempts(t *testing.T) {
	r := run{manifest: `{"0-0":10000}`, inputs: expectRuns(1)}
	for i := range 9999 {
		r.failures = append(r.failures, fmt.Sprintf(`{T:0,I:0,N:%d,R:"r1",C:"x"}`, 9998-i))
	}
	for range 1000 {
		r.results = append(r.results, `{T:0,I:0,N:9999,R:"r1",W:1}`)
	}
	ix := load(t, r, nil)
	a := ix.Attempts(0)
	if len(ix.Findings) > 0 || len(a) != 10000 || a[0].Number.String() != "0" || a[9999].Line != 1000 || len(ix.Duplicates) != 999 {
		t.Errorf("%d attempts, %d findings, %d duplicates", len(a), len(ix.Findings), len(ix.Duplicates))
	}
	if r := ix.Rollout(0, Settings{MaxAttempts: 3}); r.Disposition != Success || r.CountedFailures != 9999 {
		t.Errorf("%+v", r)
	}
}

// replaced gives another row than the one that was indexed.
type replaced struct {
	files
	row string
}

func (r *replaced) Saved(file File, offset, length int64) (value.Value, error) {
	if file == Results && offset == 0 {
		return value.Strict([]byte(short.Replace(r.row)))
	}
	return r.files.Saved(file, offset, length)
}

func TestChangedAfterIndex(t *testing.T) {
	r := run{manifest: `{"0-0":1}`, inputs: expectRuns(1), results: []string{`{T:0,I:0,R:"r1"}`, `{T:0,I:0,R:"r1","x":1}`}}
	for _, row := range []string{`{T:5,I:0,R:"r1"}`, `{T:0,I:0,R:"r2"}`, `{T:0,I:0,N:1,R:"r1"}`, `[]`, `{}`} {
		ix := load(t, r, &replaced{files{texts(r.inputs), "", texts(r.results)}, row})
		if got := said(ix.Findings); len(got) == 0 || got[0] != "records.changed_after_index results:1 0-0#0" || ix.FirstError != finding.ChangedAfterIndex {
			t.Errorf("%s: %q", row, got)
		}
	}
	ix := load(t, r, nil)
	if err := ix.Check(0, integer.Of(0), []byte(short.Replace(`{T:0,I:0,R:"r1","anything":"else"}`))); err != nil {
		t.Error(err)
	}
	for _, row := range []string{`{T:1,I:0,R:"r1"}`, `{T:0,I:0}`, `{"torn`, `3`} {
		if err := ix.Check(0, integer.Of(0), []byte(short.Replace(row))); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// slow answers every second time, as a caller does that must fetch rows first.
type slow struct {
	files
	asked map[int64]bool
}

var errLater = errors.New("later")

func (s *slow) Saved(file File, offset, length int64) (value.Value, error) {
	if !s.asked[offset] {
		s.asked[offset] = true
		return value.Value{}, errLater
	}
	return s.files.Saved(file, offset, length)
}

func TestAddAgain(t *testing.T) {
	r := run{inputs: expectRuns(1), failures: []string{`{T:0,I:0,C:"z",N:5}`, `{T:0,I:0,C:"w",N:5}`, `{T:0,I:0,C:"w",N:5}`}}
	want := load(t, r, nil)
	f := files{texts(r.inputs), texts(r.failures), texts(r.results)}
	s := &slow{f, map[int64]bool{}}
	ix := NewIndex(nil, Place{}, new(Names))
	var rows Reader
	for file := Inputs; file <= Results; file++ {
		var lines store.Reader
		walk(t, f[file], func(l *jsonl.Line) {
			v, _ := lines.Read(l)
			row := rows.Read(v, file, lines.Account.Lines, l.Offset, l.Size())
			if file == Inputs {
				ix.Expect(row)
				return
			}
			for {
				if _, err := ix.Add(row, s); err == nil {
					return
				}
			}
		})
	}
	if got, want := ix.Attempts(0), want.Attempts(0); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestLegacy(t *testing.T) {
	r := run{
		inputs:   []string{`{T:0,I:0,"agent_ref":{"name":"a"}}`, `{T:1,I:0}`, `{T:2,I:0,"_ng_environment_server":"s"}`, `{T:3,I:0}`, `{T:3,I:0}`, `{T:"4",I:0}`, `{T:5,I:0}`},
		failures: []string{`{T:0,I:0,C:"x"}`, `{T:1,I:0,C:"x"}`, `{T:1.0,I:false,C:"x"}`, `{T:1,I:0}`, `{T:5,I:0,C:"timeout_exceeded",F:1}`, `{T:9,I:0,C:"x"}`, `{"x":1}`, `{T:5,I:0,"_ng_omitted_rollout":true}`},
		results:  []string{`{T:0,I:0}`, `{T:0,I:0}`, `{T:false,I:0.0}`, `{T:4,I:0}`},
	}
	l := NewLegacy(Place{Run: "run", Results: "results"}, new(Names))
	var rows Reader
	for file, list := range [][]string{r.inputs, r.failures, r.results} {
		var lines store.Reader
		walk(t, texts(list), func(line *jsonl.Line) {
			v, _ := lines.Read(line)
			row := rows.Read(v, File(file), lines.Account.Lines, line.Offset, line.Size())
			if File(file) == Inputs {
				l.Input(row)
			} else {
				l.Add(row)
			}
		})
	}
	want := Numbers{Done: 2, FailureRows: 6, FailureKeys: 4, Terminal: 1, Maxed: 1, Inputs: 7, ToRun: 4, Imputable: 1, Unroutable: 2}
	if got := l.Numbers(Settings{MaxAttempts: 3}); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	want.Terminal, want.ToRun = 0, 5
	if got := l.Numbers(Settings{MaxAttempts: 3, Override: true}); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got := said(l.Duplicates); !slices.Equal(got, []string{`records.duplicate_result results:2 {"first_line":1}`, `records.duplicate_result results:3 {"first_line":1}`}) {
		t.Error(got)
	}
}

func TestStoredRows(t *testing.T) {
	for _, text := range []string{"", "x", "\x01\x00\x00", "\x02\x00\x00\x00", "\x01\x09\x00\x00"} {
		if _, _, err := ParseRow([]byte(text)); !errors.Is(err, ErrStored) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzStoredRow(f *testing.F) {
	f.Add([]byte(short.Replace(`{T:0,I:0,N:1,R:"r",C:"x","_ng_failure_record":{"a":1},"elapsed_seconds":2}`)), []byte{1})
	f.Fuzz(func(t *testing.T, text, junk []byte) {
		_, _, _ = ParseRow(junk)
		var lines store.Reader
		walk(t, string(text), func(l *jsonl.Line) {
			v, ok := lines.Read(l)
			if !ok {
				return
			}
			var rows Reader
			row := rows.Read(v, Failures, 1, 0, 0)
			stored := row.Append(nil)
			again, rest, err := ParseRow(append(slices.Clone(stored), junk...))
			if err != nil || string(rest) != string(junk) || string(again.Append(nil)) != string(stored) {
				t.Fatalf("%s: %v", text, err)
			}
		})
	})
}

// FuzzIndex adds arbitrary rows and looks at what must hold for every run.
func FuzzIndex(f *testing.F) {
	f.Add(`{"_ng_task_index":0,"_ng_rollout_index":0}`, `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_failure_class":"x"}`, `{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_attempt_index":3}`, true)
	f.Fuzz(func(t *testing.T, inputs, failures, results string, imported bool) {
		all := files{inputs, failures, results}
		var m *store.Manifest
		if !imported {
			m = &store.Manifest{RunID: "r", Reserved: []store.Reservation{{ID: "0-0", Next: integer.Of(2)}}}
		}
		ix := NewIndex(m, Place{}, new(Names))
		var rows Reader
		for file := Inputs; file <= Results; file++ {
			var lines store.Reader
			walk(t, all[file], func(l *jsonl.Line) {
				if v, ok := lines.Read(l); ok {
					row := rows.Read(v, file, lines.Account.Lines, l.Offset, l.Size())
					if file == Inputs {
						ix.Expect(row)
					} else if _, err := ix.Add(row, &all); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		ix.Finish()
		for _, s := range []Settings{{3, false}, {1, true}} {
			c := ix.Coverage(s)
			if c.Successful != c.Measured+c.Masked+c.Unscored || c.Expected != c.Successful+c.Failed+c.Omitted+c.Unknown || c.NeverDispatched > c.Unknown {
				t.Fatalf("%+v", c)
			}
			if check := ReadCoverage("c", c.File()).Compare("r", ix, true); check.Comparison != Match {
				t.Fatalf("%+v", check)
			}
			if !json.Valid(c.File()) {
				t.Fatal("no JSON")
			}
			ix.Pending(s)
		}
		for i := range ix.Len() {
			ix.Attempts(i)
		}
	})
}
