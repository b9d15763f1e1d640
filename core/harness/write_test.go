package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func reportOf(t testing.TB, s Scope, rows ...string) *Report {
	t.Helper()
	r, err := reduced(t, []byte(strings.Join(rows, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Report(s)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func summaryOf(t testing.TB, r *Report, inputs ...Input) *Summary {
	t.Helper()
	s, err := r.Summary(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReportID holds that an id depends on bytes and scope alone, not on where the files lie.
func TestReportID(t *testing.T) {
	report := reportOf(t, Scope{}, change(t))
	one, other := strings.Repeat("1", 64), strings.Repeat("2", 64)
	id := summaryOf(t, report, Input{"run/a.jsonl", one}).ID
	if summaryOf(t, report, Input{"elsewhere/deep/a.jsonl", one}).ID != id {
		t.Error("the id depends on the folder")
	}
	ids := map[string]string{id: "plain"}
	for name, s := range map[string]*Summary{
		"name":    summaryOf(t, report, Input{"b.jsonl", one}),
		"bytes":   summaryOf(t, report, Input{"a.jsonl", other}),
		"more":    summaryOf(t, report, Input{"a.jsonl", one}, Input{"a.capture.json", other}),
		"tools":   summaryOf(t, report.Under(Scope{NoTools: true}), Input{"a.jsonl", one}),
		"sandbox": summaryOf(t, report.Under(Scope{RequireSandbox: true}), Input{"a.jsonl", one}),
	} {
		if before, ok := ids[s.ID]; ok {
			t.Errorf("%s has the id of %s", name, before)
		}
		ids[s.ID] = name
	}
	if summaryOf(t, report, Input{"x", one}, Input{"y", other}).ID != summaryOf(t, report, Input{"y", other}, Input{"x", one}).ID {
		t.Error("the id depends on the order of inputs")
	}
	if _, err := report.Summary([]Input{{"a/x", one}, {"b/x", other}}); !errors.Is(err, ErrNames) {
		t.Errorf("%v", err)
	}
	summaryOf(t, report, Input{"a/x", one}, Input{"b/x", one})
	document := "{\n  \"applicability\": {\n    \"require_sandbox\": false,\n    \"steps\": true,\n    \"tools\": true,\n    \"verifier\": true\n  },\n" +
		"  \"checker_sha256\": \"" + Checker + "\",\n  \"profile\": \"gym-p0/v1\",\n  \"sources\": {\n    \"a.jsonl\": \"" + one + "\"\n  }\n}\n"
	if sum := sha256.Sum256([]byte(document)); hex.EncodeToString(sum[:]) != id {
		t.Error("the id is not the digest of its document")
	}
}

// TestUnder holds that judging anew in another scope is the same as judging in it at once.
func TestUnder(t *testing.T) {
	data := everything(t)
	r, err := reduced(t, data)
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Report(Scope{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range allScopes() {
		direct, err := r.Report(s)
		if err != nil {
			t.Fatal(err)
		}
		under := base.Under(s)
		if *direct.Tally() != *under.Tally() || under.Scope() != s {
			t.Errorf("%+v: tallies differ", s)
		}
		var a, b bytes.Buffer
		if direct.WriteResults(&a) != nil || under.WriteResults(&b) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%+v: results differ", s)
		}
	}
}

// TestTally holds that tallies of parts add up, and that they agree with the records.
func TestTally(t *testing.T) {
	report := reportOf(t, Scope{}, string(everything(t)))
	var odd, even Tally
	odd = report.TallyOf(func(i int) bool { return i%2 == 1 })
	even = report.TallyOf(func(i int) bool { return i%2 == 0 })
	odd.Merge(&even)
	if odd != *report.Tally() {
		t.Error("the parts do not add up")
	}
	var counted Tally
	for i := range report.Records() {
		r := report.Record(i)
		counted.Records.add(r.Verdict)
		for c, v := range r.Evidence {
			counted.Capabilities[c].add(v)
			if report.Capability(i, Capability(c+1)) != v {
				t.Errorf("record %d: capability %d", i, c+1)
			}
		}
		for k, a := range r.Tokens {
			counted.Tokens[k].Available += a.Available
			counted.Tokens[k].Calls += a.Calls
		}
		for p, row := range r.Checks {
			n := &counted.Checks[p]
			switch {
			case row.Status == NotApplicable:
				n.NotApplicable++
			case row.Status == Pass:
				n.Passed++
			case len(row.BlockedBy) > 0:
				n.Blocked++
			default:
				n.Failed++
			}
		}
	}
	if counted != *report.Tally() {
		t.Error("records and tally disagree")
	}
}

func TestPage(t *testing.T) {
	report := reportOf(t, Scope{NoTools: true}, change(t), change(t, "reward -"))
	want := "# Retained evidence\n\nProfile `gym-p0/v1`, gate not_fulfilled, 2 records.\n\n| Evidence | Artifact verdict | Passing/applicable records |\n|---|---|---|\n" +
		"| TE-1 `model_call_status` | fulfilled | 2/2 |\n"
	page := summaryOf(t, report, Input{"f", "0"}).Page()
	if !strings.HasPrefix(page, want) || !strings.Contains(page, "| TE-5 `tool_record` | not_applicable | 0/0 |\n| TE-6 `verifier_outcome` | not_fulfilled | 1/2 |\n") || !strings.Contains(page, ResultsFile) {
		t.Error(page)
	}
}

func TestMatrix(t *testing.T) {
	good := reportOf(t, Scope{NoTools: true}, change(t))
	bad := reportOf(t, Scope{NoTools: true}, change(t, "task_id -"))
	list := []Harness{{"zeta", summaryOf(t, good, Input{"a", "1"})}, {"Alpha_2", summaryOf(t, bad, Input{"a", "2"})}}
	m, err := NewMatrix(list)
	if err != nil {
		t.Fatal(err)
	}
	if m.Verdict() != NotFulfilled || len(m.ID) != 64 {
		t.Errorf("%s %s", m.Verdict(), m.ID)
	}
	head := "| Harness | TE-1 | TE-2 | TE-3 | TE-4 | TE-5 | TE-6 | TE-7 | TE-8 | TE-9 | P0 |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
	rows := "| zeta | PASS | PASS | PASS | PASS | N/A | PASS | PASS | PASS | PASS | PASS |\n| Alpha_2 | PASS | PASS | FAIL | PASS | N/A | PASS | PASS | FAIL | PASS | FAIL |\n"
	if page := m.Page(); !strings.HasSuffix(page, head+rows) {
		t.Error(page)
	}
	document := decoded(t, m.Text()).(map[string]any)
	one := document["harnesses"].(map[string]any)["zeta"].(map[string]any)
	if document["schema_version"] != MatrixSchema || document["profile"] != Profile || document["is_behavioral_qualification"] != false ||
		one["verdict"] != "fulfilled" || one["report"] != "zeta/"+list[0].Summary.ID {
		t.Errorf("%s", m.Text())
	}
	if compact := decoded(t, m.Compact()).(map[string]any); compact["matrix_id"] != m.ID || len(compact) != len(document)+1 {
		t.Errorf("%s", m.Compact())
	}
	if m, err := NewMatrix(list[:1]); err != nil || m.Verdict() != Fulfilled {
		t.Errorf("%v", err)
	}
	if _, err := NewMatrix(append(list, list[0])); !errors.Is(err, ErrHarness) {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{"a=b": "a b", "A-9_=x=y": "A-9_ x=y", "=b": "", "a=": "", "a": "", "ä=b": "", "a b=c": "", "": ""} {
		name, path, err := ParseHarness(text)
		if (err == nil) != (want != "") || err == nil && name+" "+path != want {
			t.Errorf("%q: %q %q %v", text, name, path, err)
		}
	}
}

func TestReducerErrors(t *testing.T) {
	for _, digest := range []string{"\x02", "\x01", "\x01\x00", "\x01\x01\x01\x00\x00", "\x01\x01\x00\x05\x00", "\x01\x01\x00\x00\x09x", "\x01\x01\x00\x00\x02\x01\x00"} {
		if err := NewReducer().Add(Line{Name: "f", Number: 3, Digest: []byte(digest)}); !errors.Is(err, ErrDigest) || !strings.HasPrefix(err.Error(), "f:3: ") {
			t.Errorf("%q: %v", digest, err)
		}
	}
	if _, err := NewReducer().Report(Scope{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("%v", err)
	}
}

func TestBase(t *testing.T) {
	for path, want := range map[string]string{"a": "a", "a/b": "b", "/x/y.jsonl": "y.jsonl", "": "", `a\b`: `a\b`} {
		if got := Base(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}
