package batch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// input makes a row of the inputs: agent math, task source gsm, the content of a question and an extra body as JSON.
func input(task, rollout int, content, extra string, more ...string) string {
	metadata := ""
	if extra != "" {
		metadata = `,"metadata":{"extra_body":` + extra + `}`
	}
	row := fmt.Sprintf(`{"_ng_task_index":%d,"_ng_rollout_index":%d,"agent_ref":{"name":"math"},"task_source":"gsm","responses_create_params":{"input":[{"role":"user","content":%q}]%s}`, task, rollout, content, metadata)
	for _, m := range more {
		row += "," + m
	}
	return row + "}"
}

func observe(t *testing.T, rows ...string) *Observation {
	t.Helper()
	var o Observer
	for i, text := range rows {
		v, err := new(jsonscan.Scanner).Scan([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		o.Row(v, int64(i+1), int64(100*i))
	}
	return o.Observation()
}

// TestDatasetVectors are the vectors of spec batch-status §3.3.
func TestDatasetVectors(t *testing.T) {
	const one = "22bc7af42efd31c69b886bc54904b4525508aa0b43929d59f2487ea18ec8c2f7"
	for _, test := range []struct {
		name string
		rows []string
		want Observed
	}{
		{"one row", []string{input(0, 0, "1+1?", "")}, Observed{"math", []string{"gsm"}, one, "", 1, 1, 1, false}},
		{"two seeds", []string{input(0, 0, "1+1?", `"{\"seed\": 0}"`), input(0, 1, "1+1?", `"{\"seed\": 1}"`)}, Observed{"math", []string{"gsm"}, one, "", 1, 2, 2, true}},
		{"two tasks", []string{input(3, 0, "b", ""), input(1, 0, "a", "")}, Observed{"math", []string{"gsm"}, "fdf03c83ed7f6e49a16d87c37ec16cdbc80ff02751bb5ba571e6d9c71dd46249", "", 2, 2, 1, false}},
		{"floats", []string{input(0, 0, "1+1?", `"{\"top_k\": 5, \"seed\": 9}"`, `"w":2.5e-6`, `"big":3e18`)}, Observed{"math", []string{"gsm"},
			"0cd4e8aa0d63c200a3fea1aaa67046d8406fcd4006e8000e27adad2f81eb6ed3", "23e1bc30808cd6f8249fcc08a67f2f1d6c92c5eab4a41449990652dd216c32fd", 1, 1, 1, true}},
	} {
		o := observe(t, test.rows...)
		if len(o.Errors) > 0 || len(o.Agents) != 1 || !reflect.DeepEqual(o.Agents[0], test.want) {
			t.Errorf("%s: %+v", test.name, o)
		}
	}
}

func TestCanonical(t *testing.T) {
	head, tail := `{"responses_create_params":{"input":[{"content":"q","role":"user"}]`, `},"task_source":"gsm"}`
	for _, test := range []struct{ name, row, want string }{
		{"seed alone", input(0, 0, "q", `"{\"seed\": 4}"`), head + tail},
		{"object", input(0, 0, "q", `{"seed":1,"k":2}`), head + `,"metadata":{"extra_body":{"k":2}}` + tail},
		{"object with seed alone", input(0, 0, "q", `{"seed":1}`), head + tail},
		{"seed null", input(0, 0, "q", `{"seed":null}`), head + tail},
		{"text without seed", input(0, 0, "q", `"{\"k\": 1}"`), head + `,"metadata":{"extra_body":"{\"k\": 1}"}` + tail},
		{"text that is no object", input(0, 0, "q", `"[1]"`), head + `,"metadata":{"extra_body":"[1]"}` + tail},
		{"text that is no JSON", input(0, 0, "q", `"{"`), head + `,"metadata":{"extra_body":"{"}` + tail},
		{"inner form", input(0, 0, "q", `"{\"z\": \"é\\u007f😀\", \"seed\": 1, \"a\": [1e20, 1e-5, NaN, -Infinity, 123456789012345678901234567890]}"`),
			head + `,"metadata":{"extra_body":"{\"a\":[1e+20,1e-05,NaN,-Infinity,123456789012345678901234567890],\"z\":\"\\u00e9\\u007f\\ud83d\\ude00\"}"}` + tail},
		{"half of a pair", input(0, 0, "q", `"{\"z\": \"\\ud800\", \"seed\": 1}"`), head + `,"metadata":{"extra_body":"{\"z\":\"\\ud800\"}"}` + tail},
		{"what belongs to the row", input(0, 0, "q", "", `"_ng_rollout_id":"x"`, `"_ng_attempt_index":1`, `"skills_ref":{}`, `"_ng_run_id":"r"`, `"_ng_environment_server":"s"`),
			`{"_ng_environment_server":"s","_ng_run_id":"r",` + strings.TrimPrefix(head, "{") + tail},
		{"empty metadata", `{"responses_create_params":{"metadata":{}},"agent_ref":1}`, `{"responses_create_params":{"metadata":{}}}`},
		{"metadata beside", `{"responses_create_params":{"metadata":{"extra_body":{"seed":1},"x":2}}}`, `{"responses_create_params":{"metadata":{"x":2}}}`},
		{"seed elsewhere", `{"responses_create_params":{"metadata":{"extra_body":{"deep":{"seed":1}}}},"seed":2}`, `{"responses_create_params":{"metadata":{"extra_body":{"deep":{"seed":1}}}},"seed":2}`},
	} {
		v, err := new(jsonscan.Scanner).Scan([]byte(test.row))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(new(Observer).canonical(nil, v, value.Batch)); got != test.want {
			t.Errorf("%s:\n %s\nwant\n %s", test.name, got, test.want)
		}
	}
}

func said(o *Observation) []string {
	out := []string{}
	for _, e := range o.Errors {
		out = append(out, fmt.Sprintf("%s %d %s", e.ID, e.Line, value.Object(e.Values...)))
	}
	return out
}

func TestObserve(t *testing.T) {
	plain := func(agent, task, rollout, more string) string {
		return fmt.Sprintf(`{"agent_ref":{"name":%s},"_ng_task_index":%s,"_ng_rollout_index":%s,"task_source":"s"%s}`, value.Text(agent), task, rollout, more)
	}
	seeded := func(agent string, task, rollout int, seed string) string {
		return plain(agent, fmt.Sprint(task), fmt.Sprint(rollout), `,"responses_create_params":{"metadata":{"extra_body":`+value.Text(`{"seed":`+seed+`}`).String()+`}}`)
	}
	for _, test := range []struct {
		name   string
		rows   []string
		errors []string
		agents string
	}{
		{"nothing", nil, []string{`batch.no_members 0 {}`}, ""},
		{"agents", []string{`{}`, `{"agent_ref":null}`, `{"agent_ref":{}}`, `{"agent_ref":{"name":5}}`, plain(" \u2003\x1c", "0", "0", "")},
			[]string{`batch.row_agent 1 {"position":0}`, `batch.row_agent 2 {"position":1}`, `batch.row_agent 3 {"position":2}`, `batch.row_agent 4 {"position":3}`, `batch.row_agent 5 {"position":4}`}, ""},
		{"an agent that is a text", []string{`{"agent_ref":"a"}`, `{"agent_ref":""}`}, []string{`batch.untyped_crash 1 {"field":"agent_ref","position":0}`, `batch.row_agent 2 {"position":1}`}, ""},
		{"indices", []string{plain("a", "true", "0", ""), plain("a", "1.0", "0", ""), plain("a", "-1", "0", ""), plain("a", `"1"`, "0", ""), plain("a", "1", "null", ""), plain("a", "-0", "18446744073709551615", "")},
			[]string{`batch.row_task_index 1 {"position":0}`, `batch.row_task_index 2 {"position":1}`, `batch.row_task_index 3 {"position":2}`, `batch.row_task_index 4 {"position":3}`, `batch.row_rollout_index 5 {"position":4}`}, "a:1/1/1"},
		{"task source", []string{`{"agent_ref":{"name":"a"},"_ng_task_index":0,"_ng_rollout_index":0}`, `{"agent_ref":{"name":"a"},"_ng_task_index":0,"_ng_rollout_index":0,"task_source":"\u00a0"}`},
			[]string{`batch.row_task_source 1 {"position":0}`, `batch.row_task_source 2 {"position":1}`}, ""},
		{"twice", []string{plain("a", "0", "0", ""), plain("b", "0", "0", ""), plain("a", "0", "0", `,"x":1`)}, []string{`batch.row_duplicate 3 {"position":2}`}, "a:1/1/1 b:1/1/1"},
		{"content", []string{plain("a", "0", "0", ""), plain("a", "0", "1", `,"x":1`), plain("a", "0", "2", `,"x":1`)},
			[]string{`batch.task_content 2 {"agent":"a","position":1,"task":0}`, `batch.task_content 3 {"agent":"a","position":2,"task":0}`}, "a:1/3/3"},
		{"repeats", []string{plain("a", "0", "0", ""), plain("a", "1", "0", ""), plain("a", "1", "1", ""), plain("b", "0", "0", "")}, []string{`batch.non_uniform 0 {"agent":"a","repeats":[1,2]}`}, "b:1/1/1"},
		{"interleaved", []string{plain("b", "0", "0", ""), plain("a", "0", "0", ""), plain("b", "0", "1", ""), plain("a", "0", "1", "")}, nil, "b:1/2/2 a:1/2/2"},
		{"some seeds", []string{seeded("a", 0, 0, "null"), plain("a", "1", "0", "")}, []string{`batch.partial_seeds 0 {"agent":"a","rows":2,"with_seed":1}`}, ""},
		{"same seeds", []string{seeded("a", 0, 0, "1"), seeded("a", 0, 1, " 1"), seeded("a", 1, 0, "1"), seeded("a", 1, 1, "2"), seeded("a", 2, 0, "NaN"), seeded("a", 2, 1, "null")},
			[]string{`batch.duplicate_seeds 0 {"agent":"a","task":0}`, `batch.duplicate_seeds 0 {"agent":"a","task":2}`}, "a:3/6/2 seeded"},
		{"one, one and true", []string{seeded("a", 0, 0, "1"), seeded("a", 0, 1, "1.0"), seeded("a", 0, 2, "true")}, nil, "a:1/3/3 seeded"},
		{"parameters that are a text", []string{plain("a", "0", "0", `,"responses_create_params":"x"`), plain("b", "0", "0", `,"responses_create_params":{"metadata":[1]}`), plain("c", "0", "0", `,"responses_create_params":[]`)},
			[]string{`batch.untyped_crash 1 {"field":"responses_create_params","position":0}`, `batch.untyped_crash 2 {"field":"responses_create_params","position":1}`}, "c:1/1/1"},
		{"wild seeds", []string{seeded("a", 0, 0, "18446744073709551616"), seeded("b", 0, 0, `"\ud800"`), seeded("c", 0, 0, `[18446744073709551615]`)},
			[]string{`batch.untyped_crash 1 {"field":"seed","position":0}`, `batch.untyped_crash 2 {"field":"seed","position":1}`}, "c:1/1/1 seeded"},
		{"wild seeds that are not compared", []string{seeded("a", 0, 0, "18446744073709551616"), plain("a", "1", "0", "")}, []string{`batch.partial_seeds 0 {"agent":"a","rows":2,"with_seed":1}`}, ""},
		{"rows first, then agents", []string{plain("a", "0", "0", ""), plain("a", "0", "1", `,"x":1`), `{}`}, []string{`batch.row_agent 3 {"position":2}`, `batch.task_content 2 {"agent":"a","position":1,"task":0}`}, "a:1/2/2"},
	} {
		o := observe(t, test.rows...)
		agents := []string{}
		for _, a := range o.Agents {
			text := fmt.Sprintf("%s:%d/%d/%d", a.Agent, a.Tasks, a.Rollouts, a.Repeats)
			if a.Seeded {
				text += " seeded"
			}
			agents = append(agents, text)
		}
		if got := said(o); !slices.Equal(got, test.errors) || strings.Join(agents, " ") != test.agents {
			t.Errorf("%s: %q %q\nwant %q %q", test.name, got, agents, test.errors, test.agents)
		}
	}
}

func TestDigestOrder(t *testing.T) {
	digest := func(rows ...string) string { return observe(t, rows...).Agents[0].Dataset }
	a0, a1, b0, b1 := input(0, 0, "a", ""), input(0, 1, "a", ""), input(1, 0, "b", ""), input(1, 1, "b", "")
	if digest(a0, b0, a1, b1) != digest(a0, a1, b0, b1) {
		t.Error("the order of repeats matters")
	}
	if digest(a0, b0) == digest(b0, a0) {
		t.Error("the order of tasks does not matter")
	}
	if digest(a0) != digest(strings.Replace(a0, `"name":"math"`, `"name":"other"`, 1)) {
		t.Error("the agent matters")
	}
	if digest(input(0, 0, "1+1?", `"{\"seed\": 4}"`)) != digest(input(7, 9, "1+1?", "")) {
		t.Error("seed or index matter")
	}
}

const sound = `{"agent_name":"math","task_sources":["gsm","aime"],"dataset_sha256":"AAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","expected_task_count":3,"expected_rollout_count":"6",` +
	`"repeat_policy":{"num_repeats":2.0,"seeded":"yes"},"resolved_recipe_sha256":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","metric_keys":["b","a"]}`

func change(t *testing.T, path, text string) value.Value {
	t.Helper()
	v, err := value.Strict([]byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	if path == "" {
		return v
	}
	head, tail, deep := strings.Cut(path, ".")
	member, err := value.Strict([]byte(text))
	if err != nil && text != "" {
		t.Fatal(err)
	}
	switch {
	case text == "":
		return v.Without(head)
	case deep:
		return v.With(head, v.Get(head).With(tail, member))
	}
	return v.With(head, member)
}

func TestManifest(t *testing.T) {
	one := func(path, kind string) []schema.Fault { return []schema.Fault{{Path: path, Type: kind}} }
	document := func(members ...value.Member) string {
		return value.Object(value.M("members", value.Object(members...))).String()
	}
	member := func(path, text string) string { return document(value.M("b", change(t, path, text))) }
	other := change(t, "agent_name", `"other"`)
	for _, test := range []struct {
		name, text string
		result     Result
		faults     []schema.Fault
	}{
		{"sound", member("", ""), OK, nil},
		{"no JSON", `{`, Malformed, nil},
		{"byte-order mark", "\ufeff" + member("", ""), Malformed, nil},
		{"NaN", `{"members":NaN}`, Malformed, nil},
		{"no object", `[]`, Invalid, one("", schema.ModelType)},
		{"no members", `{}`, Invalid, one("members", schema.Missing)},
		{"members a list", `{"members":[]}`, Invalid, one("members", schema.DictType)},
		{"members empty", `{"members":{}}`, Invalid, one("members", schema.TooShort)},
		{"version a number", `{"schema_version":1,"members":{"b":` + sound + `}}`, Invalid, one("schema_version", schema.Literal)},
		{"member no object", `{"members":{"b":5}}`, Invalid, one("members.b", schema.ModelType)},
		{"unknown keys", `{"x":1,"members":{"b":` + change(t, "y", `1`).String() + `}}`, Invalid, []schema.Fault{{Path: "members.b.y", Type: schema.ExtraForbidden}, {Path: "x", Type: schema.ExtraForbidden}}},
		{"agent blank", member("agent_name", `" \u001f"`), Invalid, one("members.b.agent_name", schema.ValueError)},
		{"agent a number", member("agent_name", `5`), Invalid, one("members.b.agent_name", schema.TextType)},
		{"no sources", member("task_sources", `[]`), Invalid, one("members.b.task_sources", schema.TooShort)},
		{"sources a text", member("task_sources", `"a"`), Invalid, one("members.b.task_sources", schema.ListType)},
		{"source a number", member("task_sources", `["a",1,"a",null]`), Invalid, []schema.Fault{{Path: "members.b.task_sources.1", Type: schema.TextType}, {Path: "members.b.task_sources.3", Type: schema.TextType}}},
		{"source twice", member("task_sources", `["a","a"]`), Invalid, one("members.b.task_sources", schema.ValueError)},
		{"source blank and twice", member("task_sources", `["","a","a"]`), Invalid, one("members.b.task_sources", schema.ValueError)},
		{"digest short", member("dataset_sha256", `"ab"`), Invalid, one("members.b.dataset_sha256", schema.ValueError)},
		{"digest no hex", member("resolved_recipe_sha256", `"`+strings.Repeat("g", 64)+`"`), Invalid, one("members.b.resolved_recipe_sha256", schema.ValueError)},
		{"digest a number", member("dataset_sha256", `1`), Invalid, one("members.b.dataset_sha256", schema.TextType)},
		{"no tasks", member("expected_task_count", `0`), Invalid, one("members.b.expected_task_count", schema.TooSmall)},
		{"half a task", member("expected_task_count", `1.5`), Invalid, one("members.b.expected_task_count", schema.IntFromFloat)},
		{"product", member("expected_rollout_count", `7`), Invalid, one("members.b", schema.ValueError)},
		{"product beyond 64 bits", document(value.M("b", change(t, "expected_task_count", `"9223372036854775809"`).With("expected_rollout_count", value.Text("18446744073709551618")))), OK, nil},
		{"product of faulty fields", document(value.M("b", change(t, "expected_rollout_count", `7`).With("z", value.Null))), Invalid, one("members.b.z", schema.ExtraForbidden)},
		{"policy", member("repeat_policy", `{"num_repeats":0,"seeded":2,"x":1}`), Invalid, []schema.Fault{{Path: "members.b.repeat_policy.num_repeats", Type: schema.TooSmall}, {Path: "members.b.repeat_policy.seeded", Type: schema.BoolParsing}, {Path: "members.b.repeat_policy.x", Type: schema.ExtraForbidden}}},
		{"metric keys empty", member("metric_keys", `[]`), OK, nil},
		{"metric keys missing", member("metric_keys", ``), Invalid, one("members.b.metric_keys", schema.Missing)},
		{"slug blank", document(value.M(" ", change(t, "", ""))), Invalid, one("", schema.ValueError)},
		{"agents twice", document(value.M("a", change(t, "", "")), value.M("b", change(t, "", ""))), Invalid, one("", schema.ValueError)},
		{"slug blank and agents twice", document(value.M("", change(t, "", "")), value.M("b", change(t, "", ""))), Invalid, one("", schema.ValueError)},
		{"slug blank and a faulty member", document(value.M("", change(t, "", "")), value.M("b", value.Int(1))), Invalid, one("members.b", schema.ModelType)},
		{"two members", document(value.M("a", change(t, "", "")), value.M("b", other)), OK, nil},
	} {
		m, result, faults := ReadManifest([]byte(test.text))
		if result != test.result || !reflect.DeepEqual(faults, test.faults) || (m != nil) != (result == OK) {
			t.Errorf("%s: %s %v, want %s %v", test.name, result, faults, test.result, test.faults)
		}
	}
	m, _, _ := ReadManifest([]byte(member("", "")))
	got := m.Members[0]
	if got.Slug != "b" || !slices.Equal(got.TaskSources, []string{"aime", "gsm"}) || got.Dataset != strings.Repeat("a", 64) || got.Rollouts.String() != "6" || got.Repeats.String() != "2" || !got.Seeded || !slices.Equal(got.MetricKeys, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
}

func TestRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		`{"members":{"a":{"dataset_sha256":1}}}`: true, `{"members":{"a":{"dataset_sha256":null},"b":{"dataset_sha256":"x"}},"y":1}`: true,
		`{"members":{"a":{"dataset_sha256":1},"b":{}}}`: false, `{"members":{}}`: false, `{"members":[]}`: false, `[]`: false, `{`: false, ``: false, `{"members":{"a":1}}`: false,
	} {
		if got := Recognised([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// fit makes a manifest that an observation fits.
func fit(t *testing.T, o *Observation) *Manifest {
	t.Helper()
	m := &Manifest{}
	for _, a := range o.Agents {
		text := fmt.Sprintf(`{"members":{%[8]s:{"agent_name":%[1]s,"task_sources":%[2]s,"dataset_sha256":%[3]q,"expected_task_count":%[4]d,"expected_rollout_count":%[5]d,"repeat_policy":{"num_repeats":%[6]d,"seeded":%[7]v},"resolved_recipe_sha256":%[3]q,"metric_keys":["k"]}}}`,
			value.Text(a.Agent), value.Texts(a.TaskSources), a.Dataset, a.Tasks, a.Rollouts, a.Repeats, a.Seeded, value.Text("slug-"+a.Agent))
		one, result, faults := ReadManifest([]byte(text))
		if result != OK {
			t.Fatal(faults)
		}
		m.Members = append(m.Members, one.Members...)
	}
	return m
}

func saidFindings(list []finding.Finding) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, f.ID+" "+value.Object(f.Values...).String())
	}
	return out
}

func TestValidate(t *testing.T) {
	o := observe(t, input(0, 0, "q", "", `"w":3e18`), strings.Replace(input(0, 0, "r", ""), `"name":"math"`, `"name":"b"`, 1))
	m := fit(t, o)
	if list, fits := m.Validate(o, "run", "file"); len(list) > 0 || !fits {
		t.Errorf("%q", saidFindings(list))
	}
	m.Members[0].Dataset = o.Agents[0].DatasetOld
	list, fits := m.Validate(o, "run", "file")
	if got := saidFindings(list); !slices.Equal(got, []string{`batch.old_float_text {"agent":"math","member":"slug-math"}`}) || !fits {
		t.Errorf("%q", got)
	}
	m.Members[1].Agent = "ghost"
	m.Members[0].TaskSources, m.Members[0].Dataset, m.Members[0].Seeded = []string{"x"}, "d", true
	list, fits = m.Validate(o, "run", "file")
	if got := saidFindings(list); fits || !slices.Equal(got, []string{`batch.missing_agents {"agents":["ghost"]}`, `batch.unexpected_agents {"agents":["b"]}`,
		`batch.mismatch {"expected":["x"],"field":"task_sources","member":"slug-math","observed":["gsm"]}`,
		`batch.mismatch {"expected":"d","field":"dataset_sha256","member":"slug-math","observed":"` + o.Agents[0].Dataset + `"}`,
		`batch.mismatch {"expected":{"num_repeats":1,"seeded":true},"field":"repeat_policy","member":"slug-math","observed":{"num_repeats":1,"seeded":false}}`}) {
		t.Errorf("%q", got)
	}
}

func TestAggregate(t *testing.T) {
	entry := func(more string) string {
		return `[{"agent_ref":{"name":"math"},"key_metrics":{"k":1,"j":2}` + more + `}]`
	}
	for _, test := range []struct {
		text     string // "-" for no file
		expected []string
		status   AggregationStatus
		keys     string
		problem  string
	}{
		{"-", nil, Pending, "", "null"},
		{`{`, nil, Failed, "", `{"type":"InvalidAggregateMetricsArtifact"}`},
		{`{}`, nil, Failed, "", `{"type":"InvalidAggregateMetricsArtifact"}`},
		{`[1]`, nil, Failed, "", `{"type":"InvalidAggregateMetricsArtifact"}`},
		{`[{}]`, nil, Failed, "", `{"type":"InvalidAggregateMetricsArtifact"}`},
		{`[{"agent_ref":{"name":""}}]`, nil, Failed, "", `{"type":"InvalidAggregateMetricsArtifact"}`},
		{`[{"agent_ref":{"name":"a"}},{"agent_ref":{"name":"a"}}]`, nil, Failed, "", `{"type":"InvalidAggregateMetricsArtifact"}`},
		{`[]`, nil, Failed, "", `{"type":"MissingAggregateMetricsEntry"}`},
		{entry(``), nil, Complete, "j k", "null"},
		{entry(``), []string{"k"}, Complete, "j k", "null"},
		{entry(``), []string{"a", "k", "z"}, Failed, "j k", `{"missing_metric_keys":["a","z"],"type":"MissingExpectedMetricKeys"}`},
		{entry(`,"aggregation_error":null`), []string{"z"}, Failed, "j k", `{"type":"AggregationError"}`},
		{entry(`,"aggregation_error":{"type":"T","message":"secret","http_status":500}`), nil, Failed, "j k", `{"http_status":500,"type":"T"}`},
		{entry(`,"aggregation_error":{"type":"","http_status":true}`), nil, Failed, "j k", `{"http_status":true,"type":"AggregationError"}`},
		{entry(`,"aggregation_error":{"http_status":"500"}`), nil, Failed, "j k", `{"type":"AggregationError"}`},
		{`[{"agent_ref":{"name":"math"},"key_metrics":null}]`, nil, Complete, "", "null"},
		{`[{"agent_ref":{"name":"math"}}]`, []string{"k"}, Failed, "", `{"missing_metric_keys":["k"],"type":"MissingExpectedMetricKeys"}`},
	} {
		a := NoAggregate()
		if test.text != "-" {
			a = ReadAggregate([]byte(test.text))
		}
		status, keys, problem := a.of("math", test.expected)
		if status != test.status || strings.Join(keys, " ") != test.keys || problem.String() != test.problem {
			t.Errorf("%s: %s %q %s", test.text, status, keys, problem)
		}
	}
}

func TestStatus(t *testing.T) {
	o := observe(t, input(0, 0, "q", ""), input(1, 0, "r", ""), input(2, 0, "s", ""))
	m := fit(t, o)
	tally := new(Tally)
	tally.Completed("math", "0,0")
	tally.Completed("math", "0,0")
	tally.Failed("math", "0,0", "transient")
	tally.Failed("math", "1,0", "transient")
	tally.Failed("math", "1,0", "")
	tally.Failed("other", "1,0", "x")
	derived := m.Derive(o, tally, ReadAggregate([]byte(`[{"agent_ref":{"name":"math"},"key_metrics":{"k":1}}]`)))
	digest := o.Agents[0].Dataset
	want := fmt.Sprintf(`{"math":{"benchmark_slug":"slug-math","resolved_recipe_sha256":"%[1]s","observed_task_sources":["gsm"],"observed_dataset_sha256":"%[1]s","observed_task_count":3,"expected_rollout_count":3,`+
		`"completed_rollout_count":1,"remaining_rollout_count":2,"failures_by_class":{"unknown":1},"repeat_policy":{"num_repeats":1,"seeded":false},"expected_metric_keys":["k"],"observed_metric_keys":["k"],"aggregation_status":"complete"}}`, digest)
	if got := string(Members(derived).Append(nil, value.Plain)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	none := func(string, string) int64 { return 0 }
	status := Status("sha", "2026-08-22T10:00:00.123456Z", derived)
	if c := m.Compare(status, "sha", derived, none, "run", "file"); c.Comparison != Match || len(c.Findings) > 0 {
		t.Errorf("%+v", c)
	}
	if !strings.HasPrefix(string(status), "{\n  \"manifest_sha256\": \"sha\",\n  \"members\": {\n    \"math\": {\n      \"aggregation_status\": \"complete\",") || !strings.HasSuffix(string(status), "\n  \"updated_at\": \"2026-08-22T10:00:00.123456Z\"\n}\n") {
		t.Errorf("%s", status)
	}
	document, err := value.Strict(status)
	if err != nil {
		t.Fatal(err)
	}
	set := func(v value.Value, fields ...string) value.Value {
		member := v.Get("members").Get("math")
		for i := 0; i < len(fields); i += 2 {
			if fields[i+1] == "" {
				member = member.Without(fields[i])
				continue
			}
			f, err := value.Strict([]byte(fields[i+1]))
			if err != nil {
				t.Fatal(err)
			}
			member = member.With(fields[i], f)
		}
		return v.With("members", value.Object(value.M("math", member)))
	}
	interrupted := func(agent, class string) int64 {
		if agent == "math" && class == "transient" {
			return 1
		}
		return 0
	}
	for _, test := range []struct {
		name  string
		saved string
		want  Comparison
		said  []string
	}{
		{"cut", `{"members":`, UnreadableStatus, []string{"batch.malformed {}"}},
		{"no object", `[]`, UnreadableStatus, []string{"batch.unreadable {}"}},
		{"no members", `{"members":[]}`, UnreadableStatus, []string{"batch.unreadable {}"}},
		{"another manifest", document.With("manifest_sha256", value.Null).String(), Mismatch, []string{`batch.status_other_manifest {"derived":"sha","field":"manifest_sha256","member":null,"saved":null}`}},
		{"other members", document.With("members", value.Object(value.M("x", value.Int(1)), value.M("a", value.Int(1)))).String(), Mismatch, []string{`batch.status_members {"derived":["math"],"field":"members","member":null,"saved":["a","x"]}`}},
		{"time", document.With("updated_at", value.Text("2026-08-22 10:00")).String(), Match, []string{`batch.status_time {"updated_at":"2026-08-22 10:00"}`}},
		{"no time", document.Without("updated_at").String(), Match, []string{`batch.status_time {"updated_at":null}`}},
		{"time without fraction", document.With("updated_at", value.Text("2026-08-22T10:00:00Z")).String(), Match, []string{}},
		{"fixed field", set(document, "benchmark_slug", `"x"`, "observed_task_count", `3.0`).String(), Mismatch, []string{`batch.status_mismatch {"derived":"slug-math","field":"benchmark_slug","member":"math","saved":"x"}`}},
		{"progress of a final status", set(document, "completed_rollout_count", `0`).String(), Mismatch, []string{`batch.status_mismatch {"derived":1,"field":"completed_rollout_count","member":"math","saved":0}`}},
		{"progress and results of a pending status", set(document, "completed_rollout_count", `0`, "aggregation_status", `"pending"`, "observed_metric_keys", `[]`).String(), Stale, []string{
			`batch.status_stale {"derived":1,"field":"completed_rollout_count","member":"math","saved":0}`, `batch.status_stale {"derived":["k"],"field":"observed_metric_keys","member":"math","saved":[]}`,
			`batch.status_stale {"derived":"complete","field":"aggregation_status","member":"math","saved":"pending"}`}},
		{"deferred", set(document, "remaining_rollout_count", `3`, "aggregation_status", `"deferred"`, "observed_metric_keys", `[]`).String(), Stale, []string{
			`batch.status_stale {"derived":2,"field":"remaining_rollout_count","member":"math","saved":3}`, `batch.deferred {"agents":["math"]}`}},
		{"a failure that was retried in vain", set(document, "failures_by_class", `{"unknown":1,"transient":1}`).String(), Stale, []string{`batch.status_stale {"derived":{"unknown":1},"field":"failures_by_class","member":"math","saved":{"transient":1,"unknown":1}}`}},
		{"a failure that nothing explains", set(document, "failures_by_class", `{"unknown":1,"transient":2}`).String(), Mismatch, []string{`batch.status_mismatch {"derived":{"unknown":1},"field":"failures_by_class","member":"math","saved":{"transient":2,"unknown":1}}`}},
		{"a failure too few", set(document, "failures_by_class", `{"transient":1}`).String(), Mismatch, []string{`batch.status_mismatch {"derived":{"unknown":1},"field":"failures_by_class","member":"math","saved":{"transient":1}}`}},
		{"failures that are no numbers", set(document, "failures_by_class", `{"unknown":1,"transient":"1"}`).String(), Mismatch, []string{`batch.status_mismatch {"derived":{"unknown":1},"field":"failures_by_class","member":"math","saved":{"transient":"1","unknown":1}}`}},
		{"an error that is not there", set(document, "aggregation_error", `{"type":"x"}`).String(), Mismatch, []string{`batch.status_mismatch {"derived":null,"field":"aggregation_error","member":"math","saved":{"type":"x"}}`}},
		{"pending by itself", set(document, "aggregation_status", `"pending"`).String(), Stale, []string{`batch.status_stale {"derived":"complete","field":"aggregation_status","member":"math","saved":"pending"}`}},
	} {
		c := m.Compare([]byte(test.saved), "sha", derived, interrupted, "run", "file")
		if got := saidFindings(c.Findings); c.Comparison != test.want || !slices.Equal(got, test.said) {
			t.Errorf("%s: %s %q\nwant %s %q", test.name, c.Comparison, got, test.want, test.said)
		}
	}
	// An agent that was not observed has no observed values.
	ghost := m.Derive(&Observation{}, new(Tally), NoAggregate())
	if got := ghost[0].Document(); got.Get("observed_task_count").Kind() != jsonscan.Null || got.Get("repeat_policy").Kind() != jsonscan.Null || got.Get("remaining_rollout_count").String() != "3" {
		t.Error(got)
	}
	if SHA256(nil) != store.Sum(nil) {
		t.Error("digest of a manifest")
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema_version":"1","members":{"b":` + sound + `}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		Recognised(text)
		m, result, faults := ReadManifest(text)
		if (m != nil) != (result == OK) || (len(faults) > 0) != (result == Invalid) {
			t.Fatalf("%v %s %v", m, result, faults)
		}
	})
}

func FuzzObserve(f *testing.F) {
	f.Add([]byte(input(0, 0, "q", `"{\"seed\": 1, \"k\": NaN}"`)), []byte(input(0, 1, "q", `{"seed":2}`)))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var o Observer
		for _, text := range [][]byte{a, b} {
			if v, err := new(jsonscan.Scanner).Scan(text); err == nil && v.IsObject() {
				o.Row(v, 1, 0)
			}
		}
		result := o.Observation()
		if len(result.Errors) > 0 {
			return
		}
		if list, fits := fit(t, result).Validate(result, "", ""); !fits || len(list) > 0 {
			t.Fatalf("%+v does not fit itself: %q", result, saidFindings(list))
		}
	})
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte(`{"members":{"math":{}}}`), []byte(`[{"agent_ref":{"name":"math"}}]`))
	f.Fuzz(func(t *testing.T, status, aggregate []byte) {
		o := observe(t, input(0, 0, "q", ""))
		m := fit(t, o)
		derived := m.Derive(o, new(Tally), ReadAggregate(aggregate))
		m.Compare(status, "sha", derived, func(string, string) int64 { return 1 }, "run", "file")
		if c := m.Compare(Status("sha", "2026-08-22T10:00:00Z", derived), "sha", derived, nil, "run", "file"); c.Comparison != Match {
			t.Fatalf("%+v", c)
		}
	})
}
