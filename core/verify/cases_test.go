package verify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// readCase reads a folder of hard cases.
func readCase(t *testing.T, name string) *Report {
	t.Helper()
	report, err := Run(context.Background(), folderOf(t, "../../testdata/cases/"+name, true), Options{Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	documents(t, report)
	return report
}

// places lists the lines at which an id was found.
func places(r *Report, id string) []string {
	list := []string{}
	for _, f := range r.Findings {
		if f.ID == id {
			list = append(list, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
	}
	return list
}

// TestCases holds folders of hard cases against what their expect.md says about files of a run.
func TestCases(t *testing.T) {
	t.Run("35 failures and missing", func(t *testing.T) {
		run := readCase(t, "35-failures-and-missing").Runs[0]
		c := run.Coverage
		if c.Expected != 6 || c.Measured != 3 || c.Failed != 2 || c.Unknown != 1 {
			t.Errorf("%+v", c)
		}
		got := []string{}
		run.Omissions(func(o omitted.Omission) { got = append(got, o.ID+" "+string(o.State)) })
		if !slices.Equal(got, []string{"1-1 failed.retryable", "2-0 failed.terminal", "2-1 unknown.missing"}) {
			t.Error(got)
		}
		if i, _ := run.Index.Find("1-1"); len(run.Index.Attempts(i)) != 2 {
			t.Error("(1,1) was not tried twice")
		}
	})
	t.Run("36 masked samples", func(t *testing.T) {
		if got := readCase(t, "36-masked-samples").Runs[0].Rows; got != (Measurements{Measured: 3, Masked: 3}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("39 unequal repeats", func(t *testing.T) {
		run := readCase(t, "39-unequal-repeats").Runs[0]
		if n := run.Numbers(); n.Done != 7 || run.Rows.Measured != 7 {
			t.Errorf("%+v %+v", n, run.Rows)
		}
	})
	t.Run("41 shards", func(t *testing.T) {
		r := readCase(t, "41-shards")
		keys, rows := []string{}, int64(0)
		for _, run := range r.Runs {
			keys = append(keys, run.Key)
			rows += run.Accounts[records.Results].Rows
		}
		if len(keys) != 4 || rows != 7 {
			t.Errorf("%q hold %d rows", keys, rows)
		}
	})
	t.Run("34 duplicate identity", func(t *testing.T) {
		r := readCase(t, "34-duplicate-identity")
		if got := places(r, finding.DuplicateResult); !slices.Equal(got, []string{"rollouts.jsonl:3", "rollouts.jsonl:4"}) || r.Runs[0].Accounts[records.Results].Rows != 5 || r.Runs[0].Numbers().Done != 3 {
			t.Error(got)
		}
	})
	t.Run("32 index missing or odd", func(t *testing.T) {
		r := readCase(t, "32-index-missing-or-odd")
		if a, b := r.Runs[0].Accounts[records.Results].Rows, r.Runs[1].Accounts[records.Results].Rows; a != 3 || b != 7 {
			t.Errorf("%d and %d rows", a, b)
		}
		if got := places(r, finding.MergeUnsortable); !slices.Equal(got, []string{"null_rollouts.jsonl:2", "rollouts.jsonl:1"}) {
			t.Error(got)
		}
		// 1.0, true and 1 are one key.
		if got := places(r, finding.DuplicateResult); !slices.Equal(got, []string{"rollouts.jsonl:6", "rollouts.jsonl:7"}) {
			t.Error(got)
		}
	})
	t.Run("33 number versus text", func(t *testing.T) {
		r := readCase(t, "33-number-versus-text-ids")
		if got := places(r, finding.DuplicateResult); len(got) > 0 || r.Runs[0].Numbers().Done != 5 {
			t.Error(got)
		}
	})
	t.Run("21 cut last line", func(t *testing.T) {
		r := readCase(t, "21-cut-last-line")
		rows := []int64{}
		for _, run := range r.Runs {
			rows = append(rows, run.Accounts[records.Results].Rows)
		}
		if !slices.Equal(rows, []int64{2, 2, 3, 2}) || !slices.Equal(places(r, finding.TornTail), []string{"a_rollouts.jsonl:3", "b_rollouts.jsonl:3"}) || !slices.Equal(places(r, finding.MalformedLine), []string{"d_rollouts.jsonl:3"}) {
			t.Errorf("%v %q %q", rows, places(r, finding.TornTail), places(r, finding.MalformedLine))
		}
	})
	t.Run("26 empty inputs", func(t *testing.T) {
		r := readCase(t, "26-empty-inputs")
		for _, run := range r.Runs {
			if run.Accounts[records.Results].Rows != 0 || run.Numbers().Done != 0 {
				t.Errorf("%+v", run.Accounts)
			}
		}
		if got := places(r, finding.MalformedLine); len(got) > 0 {
			t.Error(got)
		}
	})
	t.Run("other folders do no harm", func(t *testing.T) {
		for _, name := range []string{"01-bom-utf8", "06-invalid-utf8", "07-lone-surrogate-escape", "09-nul-blocks", "13-nan-infinity-literals", "14-number-edges", "18-deep-nesting", "19-glued-objects", "28-gzip-members"} {
			for _, f := range readCase(t, name).Files {
				if a := f.Account; a != nil && (a.Bytes != f.Bytes || a.Lines != a.Rows+a.Blank+a.Unreadable) {
					t.Errorf("%s, %s: %+v of %d bytes", name, f.Path, a, f.Bytes)
				}
			}
		}
	})
}

// TestTyped looks at typed results, as the page does.
func TestTyped(t *testing.T) {
	report, err := Run(context.Background(), covered(t, sound(t), true).files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := report.Find("r")
	if run == nil || run.Reading != ByManifest || !run.Reliable || run.Resume.Outcome != recovery.Resumes || run.Check.Comparison != records.Match {
		t.Fatalf("%+v", run)
	}
	if len(run.Failures) != 2 || !run.Failures[0].Stored || !run.Failures[0].Counted || run.Failures[0].Selected || !run.Failures[1].Selected {
		t.Errorf("%+v", run.Failures)
	}
	if p := run.Pending(); len(p) != 2 || p[0].Attempt.String() != "1" || p[1].Attempt.String() != "0" {
		t.Errorf("%+v", p)
	}
	if r := run.Index.Rollout(1, run.Settings); r.Disposition != records.Success || r.Measurement != outcome.Measured || r.Outcomes != 2 {
		t.Errorf("%+v", r)
	}
	if report.Find("x") != nil {
		t.Error("a run that is not there")
	}
}

// TestDialects reads one folder by the rules of all versions.
func TestDialects(t *testing.T) {
	tr := sound(t)
	for dialect, want := range map[Dialect]string{Auto: "manifest manifest", Manifest: "manifest manifest", Legacy: "legacy none"} {
		report, err := Run(context.Background(), tr.files(), Options{Dialect: dialect})
		if err != nil {
			t.Fatal(err)
		}
		run := report.Runs[0]
		if got := string(run.Dialect) + " " + string(run.Reading); got != want {
			t.Errorf("%q: %s", dialect, got)
		}
		if run.Dialect == Legacy && (run.Legacy == nil || run.Numbers().ToRun != 2 || run.FirstError != finding.LostManifest) {
			t.Errorf("%+v", run)
		}
	}
}

// TestPacked: a packed file is no rollouts file, unless companions are named after all of its name.
func TestPacked(t *testing.T) {
	report, err := Run(context.Background(), tree{
		"a.jsonl.gz": "x", "a_failures.jsonl": "", "b.jsonl.gz": "", "b.jsonl_failures.jsonl": "", "b.json": "", "c.jsonl.gz": "",
		"d.json": "{}", "d.jsonl.gz": "", "d_failures.jsonl": "",
	}.files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, f := range report.Files {
		got = append(got, f.Path+" "+f.Role+" "+f.Run)
	}
	want := []string{
		"a.jsonl.gz other ", "a_failures.jsonl failures a", "b.json other ", "b.jsonl.gz results b.jsonl", "b.jsonl_failures.jsonl failures b.jsonl", "c.jsonl.gz other ",
		"d.json results d", "d.jsonl.gz other ", "d_failures.jsonl failures d",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestPairing covers how a batch manifest finds its run.
func TestPairing(t *testing.T) {
	base := sound(t)
	manifest := batchManifest(t, base)
	at := func(dirs ...string) tree {
		tr := tree{}
		for _, dir := range dirs {
			for name, text := range base {
				tr[dir+name] = text
			}
		}
		return tr
	}
	other := func(tr tree, dir string) tree {
		tr[dir+"r_materialized_inputs.jsonl"] = strings.ReplaceAll(tr[dir+"r_materialized_inputs.jsonl"], `"s"`, `"t"`)
		return tr
	}
	with := func(tr tree, name string) tree {
		tr[name] = manifest
		return tr
	}
	for _, test := range []struct {
		name string
		tr   tree
		want string
	}{
		{"the only one that fits", with(other(at("x/", "y/"), "x/"), "x/b.json"), "y/r"},
		{"of two that fit, the one beside it", with(at("x/", "y/"), "y/b.json"), "y/r"},
		{"of two that fit, none is beside it", with(at("x/", "y/"), "b.json"), ""},
		{"none fits, one has inputs", with(other(at("x/"), "x/"), "b.json"), "x/r"},
		{"none fits, one is beside it", with(other(other(at("x/", "y/"), "x/"), "y/"), "x/b.json"), "x/r"},
		{"none fits, none is beside it", with(other(other(at("x/", "y/"), "x/"), "y/"), "b.json"), ""},
		{"named like a run manifest", with(at("x/"), "b_manifest.json"), "x/r"},
	} {
		report, err := Run(context.Background(), test.tr.files(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Manifests) != 1 || report.Manifests[0].Run != test.want {
			t.Errorf("%s: %+v", test.name, report.Manifests)
		}
	}
	o := Options{Manifests: []GivenManifest{{File: File{"../b.json", source.Bytes("", []byte(manifest))}}}}
	report, err := Run(context.Background(), base.files(), o)
	if err != nil || report.Manifests[0].Run != "r" || report.Manifests[0].Path != "../b.json" || report.Runs[0].Batch.Manifest != "../b.json" {
		t.Errorf("%+v %v", report.Manifests, err)
	}
}

// TestBatchOfOldRun counts rows of runs without an index.
func TestBatchOfOldRun(t *testing.T) {
	tr := legacy()
	tr["r.jsonl"] += rowText(0, result) + `{"_ng_task_index":1.0,"_ng_rollout_index":0}` + "\n" + `{"agent_ref":"x","_ng_task_index":2,"_ng_rollout_index":0}` + "\n"
	tr["r_failures.jsonl"] += rowText(2, `,"_ng_failure_class":""`) + rowText(2, `,"_ng_omitted_rollout":true`)
	tr["b.json"] = batchManifest(t, tr)
	report, err := Run(context.Background(), tr.files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := report.Runs[0].Batch.Members[0]
	if m.Completed != 2 || m.Remaining.String() != "1" || len(m.Failures) != 1 || m.Failures["unknown"] != 1 {
		t.Errorf("%+v", m)
	}
}

// TestOrderOfFiles: the order in which a host lists files does not matter.
func TestOrderOfFiles(t *testing.T) {
	tr := batched(t, covered(t, sound(t), true))
	for name, text := range legacy() {
		tr["old/"+name] = text
	}
	var want map[string][]byte
	random := rand.New(rand.NewSource(1))
	for range 20 {
		files := tr.files()
		if want != nil {
			random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		}
		report, err := Run(context.Background(), files, Options{Observe: true})
		if err != nil {
			t.Fatal(err)
		}
		got := documents(t, report)
		if want == nil {
			want = got
		}
		for name := range want {
			if !bytes.Equal(got[name], want[name]) {
				t.Fatalf("%s depends on the order of files", name)
			}
		}
	}
}

// TestManyAttempts reads a run of 10,000 attempts of one rollout, once tagged and once without a manifest.
func TestManyAttempts(t *testing.T) {
	const n = 10000
	inputs := rowText(0, "")
	var failures, untagged strings.Builder
	for i := range n {
		failures.WriteString(tagged(0, i, `,"_ng_failure_class":"agent_run_error"`))
		untagged.WriteString(rowText(0, `,"_ng_failure_class":"agent_run_error"`))
	}
	for _, tr := range []tree{
		{"r_materialized_inputs.jsonl": inputs, "r_manifest.json": manifestText(t, inputs, fmt.Sprintf(`{"0-0":%d}`, n)), "r_failures.jsonl": failures.String(), "r.jsonl": ""},
		{"r_materialized_inputs.jsonl": inputs, "r_failures.jsonl": untagged.String(), "r.jsonl": ""},
	} {
		report, err := Run(context.Background(), tr.files(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := report.Runs[0]
		if c := run.Coverage; c.Attempts.String() != "10000" || c.CountedFailures != n || c.Exhausted != 1 || !run.Reliable {
			t.Errorf("%+v", c)
		}
		documents(t, report)
	}
}

// TestErrors: what a source or the caller says ends the reading.
func TestErrors(t *testing.T) {
	tr := sound(t)
	for _, name := range []string{"r.jsonl", "r_manifest.json", "r_materialized_inputs.jsonl", "other.json"} {
		files := tr.files()
		at := slices.IndexFunc(files, func(f File) bool { return f.Path == name })
		if at < 0 {
			files = append(files, File{name, broken{}})
		} else {
			files[at].Source = broken{}
		}
		if _, err := Run(context.Background(), files, Options{}); err == nil || !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(io.ErrUnexpectedEOF)
	if _, err := Run(ctx, tr.files(), Options{}); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	report, err := Run(context.Background(), nil, Options{})
	if err != nil || len(report.Files)+len(report.Runs)+len(report.Findings) > 0 {
		t.Errorf("%+v %v", report, err)
	}
	documents(t, report)
}

// TestStoredRows feeds a reader as a host does that scans the rollouts file for other reasons.
func TestStoredRows(t *testing.T) {
	tr := sound(t)
	tr["r.jsonl"] += tagged(0, 0, result) + "{\n\n" + tagged(3, 0, result)
	want, err := Run(context.Background(), tr.files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[int64]bool{}
	rows := func(file records.File, offset, length int64) (value.Value, error) {
		if !asked[offset] {
			asked[offset] = true
			return value.Value{}, io.ErrNoProgress // it must be fetched first
		}
		name := [...]string{"r_materialized_inputs.jsonl", "r_failures.jsonl", "r.jsonl"}[file]
		return value.Strict([]byte(tr[name][offset : offset+length]))
	}
	part := Part{Key: "r", Place: want.Runs[0].Place, Present: [3]bool{true, true, true}, Manifest: []byte(tr["r_manifest.json"])}
	r := NewReader(part, &Options{}, savedFunc(rows))
	for file, name := range []string{"r_materialized_inputs.jsonl", "r_failures.jsonl"} {
		lines(tr[name], func(l *jsonl.Line) {
			if err := r.Line(records.File(file), l); err != nil {
				t.Fatal(err)
			}
		})
	}
	var lineReader store.Reader
	var reader records.Reader
	lines(tr["r.jsonl"], func(l *jsonl.Line) {
		before := lineReader.Account
		faults := len(lineReader.Faults)
		v, ok := lineReader.Read(l)
		after := lineReader.Account
		delta := store.Account{Lines: after.Lines - before.Lines, Rows: after.Rows - before.Rows, Blank: after.Blank - before.Blank, Unreadable: after.Unreadable - before.Unreadable, Bytes: after.Bytes - before.Bytes}
		r.Unread(delta, lineReader.Faults[faults:]...)
		if !ok {
			return
		}
		stored := reader.Read(v, records.Results, after.Lines, l.Offset, l.Size()).Append(nil)
		row, _, err := records.ParseRow(stored)
		if err != nil {
			t.Fatal(err)
		}
		row.Line, row.Offset, row.Length = after.Lines, l.Offset, l.Size()
		for {
			if err := r.Row(&row); err == nil {
				return
			} else if err != io.ErrNoProgress {
				t.Fatal(err)
			}
		}
	})
	run := r.Finish()
	finding.Sort(run.Findings)
	got := &Report{Files: want.Files, Runs: []*RunReport{run}, Findings: run.Findings}
	a, b := documents(t, got), documents(t, want)
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s:\n%s\nwant\n%s", name, a[name], b[name])
		}
	}
	if len(asked) == 0 {
		t.Error("no row was read again")
	}
}

// lines calls f for every line of a text.
func lines(text string, f func(*jsonl.Line)) {
	s := jsonl.NewSplitter(0)
	each := func(l *jsonl.Line) bool { f(l); return true }
	s.Feed([]byte(text), each)
	s.Finish(each)
}

type savedFunc func(records.File, int64, int64) (value.Value, error)

func (f savedFunc) Saved(file records.File, offset, length int64) (value.Value, error) {
	return f(file, offset, length)
}

// FuzzFolder reads folders of arbitrary files.
func FuzzFolder(f *testing.F) {
	tr := batched(f, covered(f, sound(f), true))
	f.Add(tr["r_materialized_inputs.jsonl"], tr["r_failures.jsonl"], tr["r.jsonl"], tr["r_manifest.json"], tr["r_coverage.json"], tr["batch.json"], tr["batch_status.json"], tr["r_aggregate_metrics.json"])
	old := legacy()
	f.Add(old["r_materialized_inputs.jsonl"], old["r_failures.jsonl"], old["r.jsonl"], "", "", "", "", "")
	f.Fuzz(func(t *testing.T, inputs, failures, results, manifest, coverage, batch, status, aggregate string) {
		tr := tree{"r_materialized_inputs.jsonl": inputs, "r_failures.jsonl": failures, "r.jsonl": results}
		for name, text := range map[string]string{"r_manifest.json": manifest, "r_coverage.json": coverage, "batch.json": batch, "batch_status.json": status, "r_aggregate_metrics.json": aggregate} {
			if text != "" {
				tr[name] = text
			}
		}
		report, err := Run(context.Background(), tr.files(), Options{Observe: true})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range documents(t, report) {
			if _, err := value.Strict(bytes.TrimSuffix(text, []byte("\n"))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, f := range report.Files {
			if a := f.Account; a != nil && (a.Bytes != f.Bytes || a.Lines != a.Rows+a.Blank+a.Unreadable) {
				t.Fatalf("%s: %+v of %d bytes", f.Path, a, f.Bytes)
			}
		}
	})
}
