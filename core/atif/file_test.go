package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/value"
)

// ids lists the findings by their names.
func ids(t *testing.T, list []finding.Finding) string {
	t.Helper()
	var out []string
	for _, f := range list {
		if f.Severity == "" || f.Message() == "" || f.File == "" {
			t.Errorf("%+v: %q", f, f.Message())
		}
		out = append(out, f.ID)
	}
	return strings.Join(out, " ")
}

func export(t *testing.T, lines ...string) (files []*File, manifest string, err error) {
	t.Helper()
	e, err := NewExport(Options{Session: "S", AgentVersion: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if f := e.Line([]byte(line)); f != nil {
			files = append(files, f)
		}
	}
	text, err := e.Finish()
	return files, string(text), err
}

func TestExport(t *testing.T) {
	other := string(lineOf(set(t, parse(t, exampleRow), "_ng_rollout_index", "2")))
	files, manifest, err := export(t, exampleRow, other)
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	want := `{"_ng_rollout_index":1,"_ng_task_index":0,"expected_sha256":"6fb8f2644a5e493bfaa9e04fa8d951244859414f7cba2d51454d6d1b65f3ebb4","trajectory_path":"0-1.json"}` + "\n"
	if !strings.HasPrefix(manifest, want) || strings.Count(manifest, "\n") != 2 || !strings.HasSuffix(manifest, "\n") {
		t.Error(manifest)
	}
	sum := sha256.Sum256(files[1].Text)
	if files[1].Digest != hex.EncodeToString(sum[:]) || files[1].Name != "0-2.json" || !strings.Contains(manifest, files[1].Digest) {
		t.Errorf("%+v", files[1])
	}
	for _, o := range []Options{{Session: " ", AgentVersion: "1"}, {Session: "s", AgentVersion: "\t"}} {
		if _, err := NewExport(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}

	agent := string(lineOf(set(t, parse(t, other), "agent_ref.name", `"x"`)))
	broken := string(lineOf(set(t, parse(t, exampleRow), "ng_trajectory", "null")))
	for _, tt := range []struct {
		lines []string
		want  []string // parts of the errors
	}{
		{nil, []string{"no rows"}},
		{[]string{exampleRow, ""}, []string{"line 2: the line is blank"}},
		{[]string{exampleRow, " \r", other}, []string{"line 2: the line is blank"}},
		{[]string{exampleRow, exampleRow}, []string{"line 2: the file has this rollout"}},
		{[]string{broken, exampleRow}, []string{"line 1: there is no trajectory", "line 2: the file has this rollout"}},
		{[]string{exampleRow, agent}, []string{"line 2: the agent is x"}},
		{[]string{"{", "[]", `{"a":1,"a":2}`}, []string{"line 1: ", "line 2: the row is no object", "line 3: the key"}},
	} {
		_, _, err := export(t, tt.lines...)
		if err == nil {
			t.Errorf("%v: no error", tt.want)
			continue
		}
		if got := strings.Split(err.Error(), "\n"); len(got) != len(tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		} else {
			for i := range got {
				if !strings.Contains(got[i], tt.want[i]) {
					t.Errorf("%q, want %q", got[i], tt.want[i])
				}
			}
		}
	}
}

func TestParseEntry(t *testing.T) {
	const digest = `6fb8f2644a5e493bfaa9e04fa8d951244859414f7cba2d51454d6d1b65f3ebb4`
	for text, ok := range map[string]bool{
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1}`:                                         true,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1,"expected_sha256":null}`:                  true,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1,"expected_sha256":"` + digest + `"}`:      true,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1,"expected_sha256":"` + digest[1:] + `"}`:  false,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1,"expected_sha256":"X` + digest[1:] + `"}`: false,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1,"expected_sha256":1}`:                     false,
		`{"trajectory_path":"a.json","_ng_task_index":0.0,"_ng_rollout_index":1}`:                                       false,
		`{"trajectory_path":"a.json","_ng_task_index":true,"_ng_rollout_index":1}`:                                      false,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":-1}`:                                        false,
		`{"trajectory_path":"a.json","_ng_task_index":0}`:                                                               false,
		`{"trajectory_path":"","_ng_task_index":0,"_ng_rollout_index":1}`:                                               false,
		`{"_ng_task_index":0,"_ng_rollout_index":1}`:                                                                    false,
		`{"trajectory_path":"a.json","_ng_task_index":0,"_ng_rollout_index":1,"more":1}`:                                false,
		`[]`: false,
		`{`:  false,
	} {
		e, err := ParseEntry([]byte(text), 7)
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if ok && (e.Line != 7 || e.Key() != "0-1" || e.File("out/manifest.jsonl") != "out/a.json") {
			t.Errorf("%+v %s", e, e.File("out/manifest.jsonl"))
		}
	}
	for file, want := range map[string]string{"a.json": "a.json", "../b/a.json": "../b/a.json", "/abs/./a.json": "/abs/a.json", "./x/../a.json": "a.json"} {
		if got := (&Entry{Path: file}).File("manifest.jsonl"); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func TestCheckManifest(t *testing.T) {
	entry := func(line int, file, key, digest string) Manifested {
		text := `{"trajectory_path":"` + file + `","_ng_task_index":` + key[:1] + `,"_ng_rollout_index":` + key[2:]
		if digest != "" {
			text += `,"expected_sha256":"` + digest + `"`
		}
		e, err := ParseEntry([]byte(text+"}"), line)
		if err != nil {
			t.Fatal(err)
		}
		return Manifested{Entry: e, File: e.File("m/manifest.jsonl")}
	}
	with := func(m Manifested, text string) Manifested { m.Text, m.Found = []byte(text), true; return m }
	sum := func(text string) string { s := sha256.Sum256([]byte(text)); return hex.EncodeToString(s[:]) }
	first := document
	named := string(lineOf(set(t, parse(t, document), "trajectory_id", `" t "`)))
	sameName := string(lineOf(set(t, parse(t, document), "trajectory_id", `"t"`, "notes", `"x"`)))
	declared := string(lineOf(set(t, parse(t, document), "extra.nemo_gym.source", `{"task_index":4,"rollout_index":1.0}`)))
	for _, tt := range []struct {
		name string
		list []Manifested
		want string
	}{
		{"sound", []Manifested{with(entry(1, "a", "0-0", sum(first)), first), with(entry(2, "b", "0-1", sum(named)), named)}, ""},
		{"without a digest", []Manifested{with(entry(1, "a", "0-0", ""), first)}, "atif.manifest_unpinned"},
		{"another digest", []Manifested{with(entry(1, "a", "0-0", sum("x")), first)}, "atif.hash_mismatch"},
		{"no file", []Manifested{entry(1, "a", "0-0", sum("x"))}, "atif.manifest_missing_file"},
		{"one rollout", []Manifested{with(entry(1, "a", "0-0", sum(first)), first), with(entry(2, "b", "0-0", sum(named)), named)}, "atif.manifest_duplicate"},
		{"one file", []Manifested{with(entry(1, "a", "0-0", sum(first)), first), with(entry(2, "./a", "0-1", sum(named)), named)}, "atif.manifest_duplicate"},
		{"one content", []Manifested{with(entry(1, "a", "0-0", sum(first)), first), with(entry(2, "b", "0-1", sum(first)), first)}, "atif.manifest_duplicate atif.manifest_duplicate"},
		{"one identity", []Manifested{with(entry(1, "a", "0-0", sum(named)), named), with(entry(2, "b", "0-1", sum(sameName)), sameName)}, "atif.manifest_duplicate"},
		{"one identity by content", []Manifested{with(entry(1, "a", "0-0", sum(first)), first), with(entry(2, "b", "0-1", sum(first+" ")), first+" ")}, "atif.manifest_duplicate"},
		{"another source", []Manifested{with(entry(1, "a", "4-2", sum(declared)), declared)}, "atif.source_identity"},
		{"no document", []Manifested{with(entry(1, "a", "0-0", sum("{")), "{")}, ""},
	} {
		list := CheckManifest("m/manifest.jsonl", tt.list)
		if got := ids(t, list); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, f := range list {
			if f.Line == 0 {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	}
}

func TestCompareExport(t *testing.T) {
	made, _, err := exporter().Row([]byte(exampleRow))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		changes []string
		want    string
	}{
		{nil, ""},
		{[]string{"session_id", `"T"`, "trajectory_id", `"T:0:1"`, "agent.version", `"2"`, "extra.nemo_gym.exporter.version", `"9"`}, ""},
		{[]string{"trajectory_id", `"T:0:1"`}, "atif.export_mismatch"},
		{[]string{"steps.1.metrics.prompt_tokens", "8"}, "atif.export_mismatch"},
		{[]string{"steps.1.metrics.prompt_tokens", "9.0"}, ""},
		{[]string{"extra", "-"}, "atif.export_mismatch"},
	} {
		if got := ids(t, CompareExport(set(t, made, tt.changes...), made, "0-1.json")); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.changes, got, tt.want)
		}
	}
}

// TestText holds the text of documents against the rules of their form.
func TestText(t *testing.T) {
	v := value.Object(
		value.M("a", value.List()), value.M("b", value.Object()), value.M("c", value.Text("é\u007f\x01\b\t\n\f\r\"\\/")),
		value.M("d", value.List(value.Float(5), value.Float(0.00001), value.Float(1e16), value.Float(2.5e-10), value.Float(1e-6), value.Null)))
	want := "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": \"é\u007f\\u0001\\b\\t\\n\\f\\r\\\"\\\\/\",\n  \"d\": [\n    5.0,\n    0.00001,\n    1e+16,\n    2.5e-10,\n    1e-6,\n    null\n  ]\n}\n"
	if got := string(Text(v)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
