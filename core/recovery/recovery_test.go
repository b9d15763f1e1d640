package recovery

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

func of(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text), value.Leniency{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func lines(text string, f func(*jsonl.Line)) {
	s := jsonl.NewSplitter(0)
	each := func(l *jsonl.Line) bool { f(l); return true }
	s.Feed([]byte(text), each)
	s.Finish(each)
}

func row(t *testing.T, text string) jsonscan.Value {
	t.Helper()
	v, err := new(jsonscan.Scanner).Scan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const vectorGlobal = `{"policy_model_name":"m-1","policy_base_url":"http://h","policy_api_key":"k","policy":{"responses_api_models":{"vllm_model":{"host":"x","port":1,` +
	`"base_url":"${policy_base_url}","model":"${policy_model_name}","extra":{"url":"${policy_base_url}/v1","port":9},"default_headers":{"Authorization":"t","X-Env":"e"}}}},` +
	`"agent":{"responses_api_agents":{"simple_agent":{"model_server":{"type":"responses_api_models","name":"policy"},"peer":"${policy.responses_api_models.vllm_model.port}"}}},` +
	`"unused":{"resources_servers":{"r":{"k":"${oc.env:NOPE}"}}},"token_id_capture":{"enabled":false,"dir":"/x"}}`

// TestConfigVector is the vector of spec recovery §4.2, the seventh of the manifest's digests.
func TestConfigVector(t *testing.T) {
	c := NewConfig(of(t, `{"limit":null,"num_repeats":2,"output_jsonl_fpath":"o"}`), of(t, vectorGlobal))
	c.Row(row(t, `{"agent_ref":{"name":"agent"}}`))
	identity, missing, ok := c.Identity()
	const want = `{"collection":{"limit":null,"num_repeats":2},"servers":{"agent":{"responses_api_agents":{"simple_agent":{"model_server":{"name":"policy","type":"responses_api_models"},` +
		`"peer":"<runtime:policy.responses_api_models.vllm_model.port>"}}},"policy":{"responses_api_models":{"vllm_model":{"default_headers":{"X-Env":"e"},` +
		`"extra":{"port":9,"url":"<runtime:policy_base_url>/v1"},"model":"m-1"}}}},"token_id_capture":{"enabled":false}}`
	if got := identity.String(); got != want || len(missing) > 0 || !ok {
		t.Errorf("%s %v %v\nwant %s", got, missing, ok, want)
	}
	if digest, _, _ := c.Digest(); digest != "d9b7c024590d11672694d20010e6278a07c524c7f5c834adf891974c72086c7c" {
		t.Error(digest)
	}
}

func TestConfig(t *testing.T) {
	if len(runtimeOptions) != 25 || len(collectionOptions) != 24 || len(serverKinds) != 4 {
		t.Errorf("%d, %d and %d options", len(runtimeOptions), len(collectionOptions), len(serverKinds))
	}
	agent := func(settings string) string { return `"a":{"responses_api_agents":{"x":{` + settings + `}}}` }
	for _, test := range []struct {
		name, global string
		rows         []string
		servers      string // names, or the blocks if they begin with {
		missing      []string
		sound        bool
	}{
		{"nothing named takes all servers", `{` + agent(``) + `,"b":{"resources_servers":{}},"c":{"other":1},"d":5}`, nil, "a b", nil, true},
		{"an agent", `{` + agent(``) + `,"b":{"resources_servers":{}}}`, []string{`{"agent_ref":{"name":"a"}}`}, "a", nil, true},
		{"an agent that is no server", `{` + agent(``) + `}`, []string{`{"agent_ref":{"name":"z"}}`}, "", []string{"z"}, true},
		{"a stamp that is no server", `{` + agent(``) + `}`, []string{`{"_ng_environment_server":"z","agent_ref":{"name":"a"}}`}, "a", []string{"z"}, true},
		{"the environment server of an agent", `{` + agent(``) + `,"e":{"environment_servers":{"i":{"agent_server":{"name":"a"}}}}}`, []string{`{"agent_ref":{"name":"a"}}`}, "a e", nil, true},
		{"not if the row has a stamp", `{` + agent(``) + `,"e":{"environment_servers":{"i":{"agent_server":{"name":"a"}}}},"f":{"environment_servers":{}}}`,
			[]string{`{"agent_ref":{"name":"a"},"_ng_environment_server":"f"}`}, "a f", nil, true},
		{"a task source that is a server", `{` + agent(``) + `,"s":{"resources_servers":{}}}`, []string{`{"agent_ref":{"name":"a"},"task_source":"s"}`, `{"agent_ref":{"name":"a"},"task_source":"other"}`}, "a s", nil, true},
		{"the closure", `{` + agent(`"deep":[{"more":{"name":"b"}}]`) + `,"b":{"resources_servers":{"y":{"model_server":{"name":"c"}}}},"c":{"responses_api_models":{}},"d":{"responses_api_models":{}}}`,
			[]string{`{"agent_ref":{"name":"a"}}`}, "a b c", nil, true},
		{"a name that is no server", `{` + agent(`"tool":{"name":"hammer"}`) + `}`, []string{`{"agent_ref":{"name":"a"}}`}, "a", nil, true},
		{"a role without its server", `{` + agent(`"model_server":[{"name":"m"}],"resources_server":{"name":"r"},"t":{"type":"environment_servers","name":"e"}`) + `}`, []string{`{"agent_ref":{"name":"a"}}`}, "a", []string{"e", "m", "r"}, true},
		{"options at one level alone", `{` + agent(`"port":1,"tool":{"port":2},"host":{"name":"h"}`) + `}`, nil, `{"a":{"responses_api_agents":{"x":{"tool":{"port":2}}}}}`, nil, true},
		{"one agent's own option", `{"a":{"responses_api_agents":{"stirrup_agent":{"rerun_incomplete":1,"k":2},"x":{"rerun_incomplete":3}}},"b":{"resources_servers":{"stirrup_agent":{"rerun_incomplete":4}}}}`, nil,
			`{"a":{"responses_api_agents":{"stirrup_agent":{"k":2},"x":{"rerun_incomplete":3}}},"b":{"resources_servers":{"stirrup_agent":{"rerun_incomplete":4}}}}`, nil, true},
		{"credentials", `{` + agent(`"headers":{"AUTHORIZATION":1,"X-Api-Key":2,"x":3},"openai_default_headers":{"api-key":1},"token_id_capture":{"dir":1,"on":true},"inner":{"headers":{"Authorization":4}}`) + `}`, nil,
			`{"a":{"responses_api_agents":{"x":{"headers":{"x":3},"inner":{"headers":{"Authorization":4}},"openai_default_headers":{},"token_id_capture":{"on":true}}}}}`, nil, true},
		{"references", `{"n":3,"f":1.5,"t":true,"nothing":null,"s":"${n}","o":{"p":["${n}"]},` + agent(`"whole":"${n}","deep":"${o}","text":"<${n}|${f}|${t}|${nothing}|${s}>"`) + `}`, nil,
			`{"a":{"responses_api_agents":{"x":{"deep":{"p":[3]},"text":"<3|1.5|True|None|3>","whole":3}}}}`, nil, true},
		{"runtime references", `{` + agent(`"u":"${base_url}","v":"at ${x.resources_servers.y.port}","w":"${x.resources_servers.y.z.port}"`) + `,"x":{"resources_servers":{"y":{"z":{"port":5}}}}}`, []string{`{"agent_ref":{"name":"a"}}`},
			`{"a":{"responses_api_agents":{"x":{"u":"<runtime:base_url>","v":"at <runtime:x.resources_servers.y.port>","w":5}}}}`, nil, true},
		{"a resolver function", `{` + agent(`"u":"${oc.env:HOME}"`) + `}`, nil, "a", nil, false},
		{"a relative reference", `{` + agent(`"u":"${.v}"`) + `}`, nil, "a", nil, false},
		{"a nested reference", `{"n":"k","k":1,` + agent(`"u":"${a.${n}}"`) + `}`, nil, "a", nil, false},
		{"a reference to nothing", `{` + agent(`"u":"${gone}"`) + `}`, nil, "a", nil, false},
		{"a circle", `{"p":"${q}","q":"${p}",` + agent(`"u":"${p}"`) + `}`, nil, "a", nil, false},
		{"a list in a text", `{"l":[1],` + agent(`"u":"x${l}"`) + `}`, nil, "a", nil, false},
		{"an unselected block may hold anything", `{` + agent(``) + `,"b":{"resources_servers":{"r":"${oc.env:X}"}}}`, []string{`{"agent_ref":{"name":"a"}}`}, "a", nil, true},
	} {
		c := NewConfig(value.Object(), of(t, test.global))
		for _, r := range test.rows {
			c.Row(row(t, r))
		}
		identity, missing, sound := c.Identity()
		servers := identity.Get("servers")
		got := servers.String()
		if !strings.HasPrefix(test.servers, "{") {
			names := []string{}
			for _, m := range servers.Members() {
				names = append(names, m.Key)
			}
			got = strings.Join(names, " ")
		}
		if got != test.servers || !slices.Equal(missing, test.missing) || sound != test.sound {
			t.Errorf("%s: %s %v %v\nwant %s", test.name, got, missing, sound, test.servers)
		}
	}
	for _, text := range []string{``, `[]`, `{"config":{}}`, `{"config":{},"global":[]}`} {
		if _, ok := ReadConfig([]byte(text)); ok {
			t.Errorf("%q is a configuration", text)
		}
	}
	// What unfolds without end is not followed to it.
	bomb := []string{`"r0":"x"`}
	for i := 1; i < 64; i++ {
		bomb = append(bomb, fmt.Sprintf(`"r%d":"${r%d}${r%d}"`, i, i-1, i-1))
	}
	if _, _, sound := NewConfig(value.Object(), of(t, `{`+strings.Join(bomb, ",")+`,`+agent(`"u":"${r63}"`)+`}`)).Identity(); sound {
		t.Error("2^63 references were followed")
	}
}

func said(list []finding.Finding) []string {
	out := []string{}
	for _, f := range list {
		s := f.ID
		if len(f.Values) > 0 {
			s += " " + value.Object(f.Values...).String()
		}
		out = append(out, s)
	}
	return out
}

func TestCheck(t *testing.T) {
	const input = `{"_ng_task_index":0,"_ng_rollout_index":0}`
	digest := store.Sum([]byte("[" + `{"_ng_rollout_index":0,"_ng_task_index":0}` + "]"))
	manifest := func(change func(*store.Manifest)) *store.Manifest {
		m := &store.Manifest{RunID: "r", Source: "s", Materialized: digest, Config: "c"}
		change(m)
		return m
	}
	none := func(*store.Manifest) {}
	for _, test := range []struct {
		name    string
		m       *store.Manifest
		inputs  string
		given   Given
		said    []string
		refused []string
	}{
		{"sound", manifest(none), input, Given{}, []string{finding.CurrentUnknown}, nil},
		{"imported and overridden", manifest(func(m *store.Manifest) { m.Imported, m.Overridden = true, true }), input, Given{}, []string{finding.LegacyIdentity, finding.OverriddenIdentity, finding.CurrentUnknown}, []string{finding.LegacyIdentity, finding.OverriddenIdentity}},
		{"other inputs", manifest(func(m *store.Manifest) { m.Materialized = "x" }), input, Given{}, []string{`recovery.saved_inputs {"derived":"` + digest + `","saved":"x"}`, finding.CurrentUnknown}, []string{finding.SavedInputs}},
		{"current", manifest(none), input, Given{Current: &Current{"s", digest, "c"}}, []string{}, nil},
		{"all current differ", manifest(none), input, Given{Current: &Current{Source: "t", Config: "d"}},
			[]string{`recovery.source_dataset {"current":"t","saved":"s"}`, `recovery.current_inputs {"current":null,"saved":"` + digest + `"}`, `recovery.configuration {"current":"d","saved":"c"}`},
			[]string{finding.SourceDataset, finding.CurrentInputs, finding.Configuration}},
		{"torn inputs", manifest(func(m *store.Manifest) { m.Imported = true }), input + "\n{", Given{}, []string{finding.Unreadable, finding.LegacyIdentity, finding.CurrentUnknown, `recovery.reader_disagreement {"record_reader":"` + digest + `","resume_check":null}`}, []string{finding.Unreadable}},
	} {
		var in store.Inputs
		lines(test.inputs, func(l *jsonl.Line) { in.Read(l) })
		list, refused := Check(test.m, &in, test.given, records.Place{})
		if !slices.Equal(said(list), test.said) || !slices.Equal(refused, test.refused) {
			t.Errorf("%s: %q %q\nwant %q %q", test.name, said(list), refused, test.said, test.refused)
		}
	}
	if list, _ := Check(manifest(none), nil, Given{}, records.Place{}); !slices.Equal(said(list), []string{finding.CurrentUnknown}) {
		t.Error(said(list))
	}
}

func TestRemarks(t *testing.T) {
	sound := func() *store.Manifest {
		return &store.Manifest{RunID: "0123456789abcdef0123456789abcdef", Source: "s", Config: "d9b7c024590d11672694d20010e6278a07c524c7f5c834adf891974c72086c7c"}
	}
	config := func(collection string) *Config {
		c := NewConfig(of(t, collection), of(t, vectorGlobal))
		c.Row(row(t, `{"agent_ref":{"name":"agent"}}`))
		return c
	}
	for _, test := range []struct {
		name  string
		m     *store.Manifest
		given Given
		want  []string
	}{
		{"nothing given", sound(), Given{}, []string{finding.ConfigOpaque}},
		{"run id", &store.Manifest{RunID: "0123456789ABCDEF0123456789ABCDEF"}, Given{}, []string{`recovery.run_id_shape {"run_id":"0123456789ABCDEF0123456789ABCDEF"}`, finding.ConfigOpaque}},
		{"dataset", sound(), Given{Source: "s"}, []string{finding.SourceMatch, finding.ConfigOpaque}},
		{"other dataset", sound(), Given{Source: "t"}, []string{`recovery.source_mismatch {"derived":"t","saved":"s"}`, finding.ConfigOpaque}},
		{"unverified", &store.Manifest{RunID: sound().RunID, Source: store.Unverified, Config: store.Unverified}, Given{Source: "t", Config: config(`{}`)}, []string{finding.ConfigOpaque}},
		{"configuration", sound(), Given{Config: config(`{"limit":null,"num_repeats":2}`)}, []string{finding.ConfigMatch}},
		{"other configuration", sound(), Given{Config: config(`{}`)}, []string{`recovery.config_mismatch {"derived":"9e0d5a0a","saved":"d9b7c024590d11672694d20010e6278a07c524c7f5c834adf891974c72086c7c"}`}},
		{"reference outside", sound(), Given{Config: config(`{"x":"${oc.env:X}"}`)}, []string{finding.ConfigUnverifiable}},
		{"missing server", sound(), Given{Config: func() *Config { c := config(`{}`); c.Row(row(t, `{"agent_ref":{"name":"z"}}`)); return c }()}, []string{`recovery.config_missing_server {"server":"z"}`}},
	} {
		got := said(Remarks(test.m, test.given, records.Place{}))
		if test.name == "other configuration" {
			digest, _, _ := test.given.Config.Digest()
			test.want[0] = strings.Replace(test.want[0], "9e0d5a0a", digest, 1)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDecide(t *testing.T) {
	all := Presence{Manifest: true, Inputs: true, Results: true, Failures: true}
	for _, test := range []struct {
		name       string
		p          Presence
		unreadable bool
		refused    []string
		first      string
		want       Outcome
		codes      []string
	}{
		{"journal", Presence{Journal: true}, false, nil, "", Refused, []string{finding.DraftJournal}},
		{"nothing", Presence{}, false, nil, "", Fresh, []string{}},
		{"sidecar alone", Presence{Failures: true}, false, nil, "", Restart, []string{}},
		{"results alone", Presence{Results: true, Failures: true}, false, nil, "", Restart, []string{}},
		{"inputs alone", Presence{Inputs: true}, false, nil, "", Restart, []string{}},
		{"no manifest", Presence{Inputs: true, Results: true}, false, nil, finding.NotExpected, Refused, []string{finding.NoManifest}},
		{"manifest alone", Presence{Manifest: true}, true, nil, "", Refused, []string{finding.MissingMaterialized, finding.MissingOutput, finding.MissingFailures}},
		{"faults", all, true, nil, finding.UnreadableManifest, Refused, []string{finding.UnreadableManifest}},
		{"check", all, false, []string{finding.LegacyIdentity}, finding.NotExpected, Refused, []string{finding.LegacyIdentity}},
		{"loading", all, false, nil, finding.NotExpected, Refused, []string{finding.NotExpected}},
		{"sound", all, false, nil, "", Resumes, []string{}},
	} {
		if got := Decide(test.p, test.unreadable, test.refused, test.first); got.Outcome != test.want || !slices.Equal(got.Codes, test.codes) {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// plan plans three texts.
func plan(inputs, results, failures string, sidecar bool, s records.Settings, longest bool) (*Plan, error) {
	p := &Planner{Settings: s, LongestFirst: longest}
	var first error
	feed := func(text string, f func(*jsonl.Line) error) {
		lines(text, func(l *jsonl.Line) {
			if err := f(l); err != nil && first == nil {
				first = err
			}
		})
	}
	feed(inputs, p.Input)
	feed(results, p.Result)
	if sidecar {
		p.Sidecar()
	}
	feed(failures, p.Failure)
	if first != nil {
		return nil, first
	}
	return p.Plan(), nil
}

var short = strings.NewReplacer("T:", `"_ng_task_index":`, "I:", `"_ng_rollout_index":`, "N:", `"_ng_attempt_index":`, "C:", `"_ng_failure_class":`, "F:", `"_ng_failure_terminal":true`)

// TestPlan is the table of spec recovery §6.1 and what goes with it.
func TestPlan(t *testing.T) {
	const one = `{T:0,I:0}` + "\n"
	remaining := func(p *Plan) string { return p.Document().Get("remaining").String() }
	const first, none = `[{"_ng_rollout_index":0,"_ng_task_index":0}]`, `[]`
	again := func(n int) string {
		return fmt.Sprintf(`[{"_ng_attempt_index":%d,"_ng_rollout_index":0,"_ng_task_index":0}]`, n)
	}
	for _, test := range []struct {
		name, inputs, results, failures string
		override                        bool
		want                            string
	}{
		{"no row", one, "", "", false, first},
		{"two failures", one, "", "{T:0,I:0,C:\"x\"}\n{T:0,I:0}\n", false, again(2)},
		{"three failures", one, "", "{T:0,I:0}\n{T:0,I:0}\n{T:0,I:0}\n", false, none},
		{"a final failure", one, "", "{T:0,I:0,C:\"x\",F:}\n", false, none},
		{"time limits, override", one, "", "{T:0,I:0,C:\"timeout_exceeded\",F:}\n{T:0,I:0,C:\"timeout_exceeded\",F:}\n", true, again(2)},
		{"skip without flag", one, "", "{T:0,I:0,C:\"skipped\"}\n", false, again(1)},
		{"skip without flag, override", one, "", "{T:0,I:0,C:\"skipped\"}\n", true, none},
		{"saved numbers do not count", one, "", "{T:0,I:0,N:7}\n", false, again(1)},
		{"done", one, one, "{T:0,I:0}\n", false, none},
		{"a failure class among results is done", one, "{T:0,I:0,C:\"x\"}", "", false, none},
		{"number and text differ", "{T:\"0\",I:0}\n{T:0,I:0}", one, "", false, `[{"_ng_rollout_index":0,"_ng_task_index":"0"}]`},
		{"equal numbers are equal", one, "{T:false,I:0.0}", "", false, none},
		{"beyond 2^53", "{T:9007199254740993,I:0}\n{T:9007199254740992,I:0}\n", "{T:9007199254740992,I:0}", "", false, `[{"_ng_rollout_index":0,"_ng_task_index":9007199254740993}]`},
		{"values as in the input", `{T:1.0,I:"a",N:5,"reuse_cached_deliverable":"x"}`, "", "", false, `[{"_ng_attempt_index":5,"_ng_rollout_index":"a","_ng_task_index":1.0,"reuse_cached_deliverable":"x"}]`},
		{"stamped over", `{T:0,I:0,N:5,"reuse_cached_deliverable":0}`, "", "{T:0,I:0,\"reuse_cached_deliverable\":[0]}\n{T:0,I:0}", false, `[{"_ng_attempt_index":2,"_ng_rollout_index":0,"_ng_task_index":0,"reuse_cached_deliverable":true}]`},
		{"rows that are skipped", one, "\n \v\n", "[1]\n\"x\"\n{T:0}\n{}\n\n", false, first},
		{"lone CR and CR LF", "{T:0,I:0}\r{T:1,I:0}\r\n{T:2,I:0}\r", "{T:1,I:0}\n{T:2,I:0}\v\n", "", false, first},
		{"torn tails", one, "{T:0,I:0}\n{T:", "{T:0,", false, none},
		{"any class may be anything", one, "", "{T:0,I:0,C:[1],F:}\n", false, none},
	} {
		p, err := plan(short.Replace(test.inputs), short.Replace(test.results), short.Replace(test.failures), true, records.Settings{MaxAttempts: 3, Override: test.override}, false)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := remaining(p); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if c := p.Counts; c.Done+c.Terminal+c.Maxed+c.First+c.Again != p.Inputs || c.First+c.Again != int64(len(p.Remaining)) {
			t.Errorf("%s: %+v", test.name, c)
		}
	}
}

func TestPlanRefusals(t *testing.T) {
	const one = `{T:0,I:0}` + "\n"
	for _, test := range []struct {
		name, inputs, results, failures string
		file                            records.File
		line                            int64
	}{
		{"blank input", one + "\n", "", "", records.Inputs, 2},
		{"torn input", one + "{", "", "", records.Inputs, 2},
		{"input behind CR", "{T:0,I:0}\r\r{T:1,I:0}", "", "", records.Inputs, 2},
		{"input without index", "{T:0}\n", "", "", records.Inputs, 1},
		{"input that is no object", "[]\n", "", "", records.Inputs, 1},
		{"input with a list as index", "{T:[],I:0}\n", "", "", records.Inputs, 1},
		{"unknown result", one, "{T:1,I:0}\n", "", records.Results, 1},
		{"result without index", one, "{T:0}\n", "", records.Results, 1},
		{"malformed result", one, one + "{\n", "", records.Results, 2},
		{"result that is no object", one, "[]\n", "", records.Results, 1},
		{"null failure", one, "", "null\n", records.Failures, 1},
		{"number failure", one, "", "\n17", records.Failures, 2},
		{"malformed failure", one, "", "{\n", records.Failures, 1},
		{"failure with an object as index", one, "", "{T:0,I:{}}\n", records.Failures, 1},
	} {
		_, err := plan(short.Replace(test.inputs), short.Replace(test.results), short.Replace(test.failures), true, records.Settings{MaxAttempts: 3}, false)
		var r *Refusal
		if !errors.As(err, &r) || r.File != test.file || r.Line != test.line || r.Reason == "" {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestPlanOrderAndSums(t *testing.T) {
	var inputs, failures strings.Builder
	for i := range 6 {
		fmt.Fprintf(&inputs, "{T:%d,I:0}\n", i)
	}
	failures.WriteString("{T:1,I:0,\"elapsed_seconds\":3}\n{T:3,I:0,\"response\":{\"metadata\":{\"elapsed_seconds\":\"5\"}}}\n{T:4,I:0,\"elapsed_seconds\":1}\n{T:4,I:0,\"elapsed_seconds\":3}\n{T:5,I:0,\"elapsed_seconds\":-1}")
	p, err := plan(short.Replace(inputs.String()), "", short.Replace(failures.String()), false, records.Settings{MaxAttempts: 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	order := []string{}
	for _, r := range p.Remaining {
		order = append(order, r.Task.String())
	}
	if !slices.Equal(order, []string{"3", "1", "4", "0", "2", "5"}) {
		t.Error(order)
	}
	whole := short.Replace(failures.String()) + "\n"
	if want := (Sum{int64(len(whole)), 5, store.Sum([]byte(whole))}); *p.Failures != want || p.Results != (Sum{SHA256: store.Sum(nil)}) {
		t.Errorf("%+v %+v", *p.Failures, p.Results)
	}
	p, err = plan(short.Replace(inputs.String()), "", "", false, records.Settings{MaxAttempts: 3}, false)
	if err != nil || p.Failures != nil || p.Document().Get("failures_after").Kind() != jsonscan.Null {
		t.Errorf("%+v %v", p, err)
	}
}

// TestTailIsTheRepair holds the sums of a plan against the copy that a repair makes.
func TestTailIsTheRepair(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	pieces := []string{"{}", "\n", "{\"a\":", "1}", " ", "17", "\x00", "\"x\""}
	for range 2000 {
		var text strings.Builder
		for range random.Intn(8) {
			text.WriteString(pieces[random.Intn(len(pieces))])
		}
		var tail Tail
		var repair store.Repair
		lines(text.String(), func(l *jsonl.Line) { tail.Line(l); repair.Line(l) })
		var copied strings.Builder
		if err := store.Apply(&copied, strings.NewReader(text.String()), int64(text.Len()), repair.Edits); err != nil {
			t.Fatal(err)
		}
		want := Sum{int64(copied.Len()), int64(strings.Count(copied.String(), "\n")), store.Sum([]byte(copied.String()))}
		if got := tail.Sum(); got != want {
			t.Fatalf("%q: %+v, want %+v", text.String(), got, want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"config":{},"global":` + vectorGlobal + `}`))
	f.Add([]byte(`{"config":{"a":"${b}"},"global":{"b":"${c}","c":{"resources_servers":{"x":{"name":"${b}"}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, ok := ReadConfig(text)
		if !ok {
			return
		}
		a, _, _ := c.Digest()
		b, _, _ := c.With().Digest()
		if a != b {
			t.Fatal("two digests of one configuration")
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add(short.Replace("{T:0,I:0}\n"), short.Replace("{T:0,I:0}\n"), short.Replace("{T:0,I:0,C:\"x\"}\n{"))
	f.Fuzz(func(t *testing.T, inputs, results, failures string) {
		p, err := plan(inputs, results, failures, true, records.Settings{MaxAttempts: 3}, true)
		if err != nil {
			return
		}
		if c := p.Counts; c.Done+c.Terminal+c.Maxed+c.First+c.Again != p.Inputs || c.First+c.Again != int64(len(p.Remaining)) {
			t.Fatalf("%+v", c)
		}
	})
}
