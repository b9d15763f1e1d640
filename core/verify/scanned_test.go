package verify

import (
	"bytes"
	"context"
	"maps"
	"testing"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/source"
)

// scanned runs as a host does that has scanned the rollouts files already.
func scanned(t testing.TB, files []File, o Options) *Report {
	t.Helper()
	tables := map[int]*analysis.Table{}
	o.Scanned = func(i int) Scanned {
		if tables[i] == nil {
			table, err := analysis.Read(context.Background(), []source.Source{files[i].Source}, analysis.Options{Block: 700, Keep: analysis.All})
			if err != nil {
				t.Fatal(err)
			}
			tables[i] = table
		}
		s, ok := tables[i].Scanned(0)
		if !ok {
			t.Fatal("rows were not kept")
		}
		return s
	}
	report, err := Run(context.Background(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// same tells whether two reports write the same documents.
func same(t testing.TB, name string, got, want *Report) {
	t.Helper()
	a, b := documents(t, got), documents(t, want)
	for document := range maps.Keys(b) {
		if !bytes.Equal(a[document], b[document]) {
			t.Errorf("%s: %s:\n%s\nwant\n%s", name, document, a[document], b[document])
		}
	}
}

// TestScannedRows compares the reading of scanned rows with the reading of lines.
func TestScannedRows(t *testing.T) {
	for _, g := range goldenCases(t) {
		files := folderOf(t, g.dir, true)
		want, err := Run(context.Background(), files, Options{Observe: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, g.dir, scanned(t, files, Options{Observe: true}), want)
	}
	for name, more := range map[string]string{
		"duplicates": tagged(0, 0, result) + "{\n\n" + tagged(3, 0, result) + tagged(3, 0, `,"response":{},"reward":0.5`),
		"torn":       tagged(3, 0, result) + `{"a":`,
		"white":      "\v" + tagged(3, 0, result) + "\f\n \v\n[1]\n\f{}\n7",
		"failures":   tagged(3, 0, `,"_ng_failure_class":"x","_ng_failure_record":{"delivery":"none"},"_ng_failure_message":"oh"`) + tagged(2, 9, `,"elapsed_seconds":2.5`),
		"odd ids":    `{"_ng_rollout_id":"a/b","_ng_task_index":1.0,"_ng_rollout_index":true}` + "\r\n" + `{"_ng_task_index":"1","_ng_rollout_index":null}` + "\n",
		"end":        tagged(3, 0, result)[:len(tagged(3, 0, result))-1],
	} {
		tr := sound(t)
		tr["r.jsonl"] += more
		want, err := Run(context.Background(), tr.files(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, scanned(t, tr.files(), Options{}), want)
	}
}
