package harness

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const goldens = "../../testdata/harness"

// goldenCases lists the folders of the cases.
func goldenCases(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(goldens, "*", "input.jsonl"))
	if err != nil || len(found) != 24 {
		t.Fatalf("%d cases: %v", len(found), err)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// unpack reads a packed JSON file.
func unpack(t testing.TB, path string) any {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, content)
}

func decoded(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// own are the members that name this program or are sentences; they are no part of the results of the cases.
var own = map[string]bool{
	"reasons": true, "reason": true, "scope": true, "limits": true, "report_id": true, "checker_version": true, "checker_sha256": true,
}

func strip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for k, m := range v {
			if !own[k] {
				kept[k] = strip(m)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = strip(v[i])
		}
		return kept
	}
	return v
}

// difference names the first place where two documents differ, "" if they do not.
func difference(path string, want, have any) string {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok || len(h) != len(w) {
			return fmt.Sprintf("%s: want %v, have %v", path, want, have)
		}
		for k := range w {
			if d := difference(path+"."+k, w[k], h[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return fmt.Sprintf("%s: want %v, have %v", path, want, have)
		}
		for i := range w {
			if d := difference(fmt.Sprintf("%s[%d]", path, i), w[i], h[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, have) {
		return fmt.Sprintf("%s: want %v, have %v", path, want, have)
	}
	return ""
}

// scopeOf reads the scope of a case off its result.
func scopeOf(t testing.TB, expected any) Scope {
	t.Helper()
	if summary, ok := expected.(map[string]any)["summary"].(map[string]any); ok {
		return scopeFrom(summary["applicability"])
	}
	return Scope{}
}

func scopeFrom(v any) Scope {
	flags := v.(map[string]any)
	is := func(name string) bool { return flags[name] == true }
	return Scope{!is("tools"), !is("verifier"), !is("steps"), is("require_sandbox")}
}

func reduced(t testing.TB, data []byte) (*Reducer, error) {
	t.Helper()
	var m Mapper
	r := NewReducer()
	return r, r.AddAll(0, "folder/input.jsonl", m.MapLines(data))
}

func TestGolden(t *testing.T) {
	for _, folder := range goldenCases(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			data := readFile(t, filepath.Join(folder, "input.jsonl"))
			want := unpack(t, filepath.Join(folder, "expected.json.gz"))
			r, err := reduced(t, data)
			if _, refused := want.(map[string]any)["error"]; refused {
				if err == nil {
					t.Fatal("accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			report, err := r.Report(scopeOf(t, want))
			if err != nil {
				t.Fatal(err)
			}
			sha := want.(map[string]any)["summary"].(map[string]any)["sources"].(map[string]any)["input.jsonl"].(string)
			summary, err := report.Summary([]Input{{"elsewhere/input.jsonl", sha}})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := summary.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			have := decoded(t, b.Bytes())
			if d := difference("", want, strip(have)); d != "" {
				t.Error(d)
			}
			holdReasons(t, have)
			holdFiles(t, report, summary, have)
		})
	}
}

// holdReasons asks for exactly one reason in failing rows and none in others.
func holdReasons(t *testing.T, document any) {
	t.Helper()
	for _, record := range document.(map[string]any)["records"].([]any) {
		for _, row := range record.(map[string]any)["checks"].([]any) {
			row := row.(map[string]any)
			reasons := row["reasons"].([]any)
			if failed := row["status"] == "fail"; failed != (len(reasons) == 1) || len(reasons) > 1 {
				t.Errorf("%s: %s with reasons %v", row["id"], row["status"], reasons)
			}
		}
	}
}

// holdFiles compares the files of a report with the document.
func holdFiles(t *testing.T, report *Report, summary *Summary, document any) {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteResults(&b); err != nil {
		t.Fatal(err)
	}
	records := document.(map[string]any)["records"].([]any)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != len(records) {
		t.Fatalf("%d lines of results for %d records", len(lines), len(records))
	}
	for i, line := range lines {
		if d := difference("", records[i], decoded(t, []byte(line))); d != "" {
			t.Errorf("line %d: %s", i+1, d)
		}
	}
	want := document.(map[string]any)["summary"].(map[string]any)
	if want["report_id"] != summary.ID || len(summary.ID) != 64 {
		t.Errorf("report %v, id %s", want["report_id"], summary.ID)
	}
	delete(want, "report_id")
	if d := difference("", any(want), decoded(t, summary.Text())); d != "" {
		t.Error(d)
	}
	if text := string(summary.Text()); !strings.HasPrefix(text, "{\n  \"applicability\": {\n    \"require_sandbox\": ") || !strings.HasSuffix(text, "\n}\n") {
		t.Errorf("summary file: %s", text)
	}
}

func TestUnavailable(t *testing.T) {
	for i, c := range unpack(t, filepath.Join(goldens, "unavailable.json.gz")).([]any) {
		c := c.(map[string]any)
		record := Unavailable("record", scopeFrom(c["applicability"]))
		if d := difference(fmt.Sprint(i), c["record"], strip(decoded(t, record.AppendJSON(nil)))); d != "" {
			t.Error(d)
		}
		for _, row := range record.Checks {
			if row.Status == Fail && row.Reasons[0] != unavailable {
				t.Errorf("%s: %v", row.ID, row.Reasons)
			}
		}
	}
}

// TestStates holds that the cases show every check passing, failing by itself, waiting and not applying, where the rules
// allow it.
func TestStates(t *testing.T) {
	type state struct{ passes, fails, waits, stands bool }
	var seen [Count]state
	for _, folder := range goldenCases(t) {
		want := unpack(t, filepath.Join(folder, "expected.json.gz"))
		r, err := reduced(t, readFile(t, filepath.Join(folder, "input.jsonl")))
		if err != nil {
			continue
		}
		report, err := r.Report(scopeOf(t, want))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range report.Tally().Checks {
			s := &seen[i]
			s.passes = s.passes || c.Passed > 0
			s.fails = s.fails || c.Failed > 0
			s.waits = s.waits || c.Blocked > 0
			s.stands = s.stands || c.NotApplicable > 0
		}
	}
	for i, c := range All() {
		want := state{true, true, len(c.Needs) > 0, c.Applies != Always}
		if seen[i] != want {
			t.Errorf("%s: %+v, want %+v", c.ID, seen[i], want)
		}
	}
}
