package verify

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/batch"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/recovery"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A tree is a run folder as texts.
type tree map[string]string

func (t tree) files() []File {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	sort.Strings(names)
	files := make([]File, len(names))
	for i, name := range names {
		files[i] = File{name, source.Bytes(name, []byte(t[name]))}
	}
	return files
}

func (t tree) clone() tree {
	c := tree{}
	for name, text := range t {
		c[name] = text
	}
	return c
}

const runID = "0123456789abcdef0123456789abcdef"

// rowText makes a row of task n with more members.
func rowText(n int, more string) string {
	return fmt.Sprintf(`{"_ng_task_index":%d,"_ng_rollout_index":0,"agent_ref":{"name":"a"},"task_source":"s"%s}`, n, more) + "\n"
}

func tagged(n, attempt int, more string) string {
	return rowText(n, fmt.Sprintf(`,"_ng_run_id":"%s","_ng_attempt_index":%d%s`, runID, attempt, more))
}

const result = `,"response":{},"reward":1`

// manifestText makes a manifest for inputs.
func manifestText(t testing.TB, inputs, reserved string) string {
	t.Helper()
	var rows []value.Value
	for line := range strings.SplitSeq(inputs, "\n") {
		if line != "" {
			v, err := value.Strict([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, v)
		}
	}
	return fmt.Sprintf(`{"schema_version":2,"selection_policy":"latest_allocated","next_attempt":%s,"run_id":"%s","source_digest":"%s","materialized_digest":"%s","config_digest":"%s","legacy_import":false,"identity_overridden":false}`,
		reserved, runID, store.Sum([]byte("dataset")), store.Digest(value.List(rows...)), store.Sum([]byte("config")))
}

// sound makes a run of layout main with which nothing is wrong: of four rollouts two completed, one failed, one is
// unknown.
func sound(t testing.TB) tree {
	inputs := rowText(0, "") + rowText(1, "") + rowText(2, "") + rowText(3, "")
	tr := tree{
		"r_materialized_inputs.jsonl": inputs,
		"r_manifest.json":             manifestText(t, inputs, `{"0-0":1,"1-0":2,"2-0":1}`),
		"r_failures.jsonl":            tagged(1, 0, `,"_ng_failure_class":"agent_run_error"`) + tagged(2, 0, `,"_ng_failure_class":"agent_run_error"`),
		"r.jsonl":                     tagged(0, 0, result) + tagged(1, 1, result),
	}
	return tr
}

// covered adds the coverage that the run has.
func covered(t testing.TB, tr tree, final bool) tree {
	t.Helper()
	report, err := Run(context.Background(), tr.files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	doc := report.Runs[0].Coverage.Document()
	if final {
		doc = doc.With("scored", value.Int(report.Runs[0].Coverage.Successful)).With("failures_counted_as_zero", value.Int(0)).With("imputed", value.Int(0))
	}
	tr["r_coverage.json"] = string(doc.AppendIndented(nil, true)) + "\n"
	return tr
}

// legacy makes a run as 0.7.0 leaves it.
func legacy() tree {
	return tree{
		"r_materialized_inputs.jsonl": rowText(0, "") + rowText(1, "") + rowText(2, ""),
		"r_failures.jsonl":            rowText(1, `,"_ng_failure_class":"agent_run_error"`),
		"r.jsonl":                     rowText(0, result),
	}
}

// batched adds a batch manifest that fits, and the status that follows from it.
func batched(t testing.TB, tr tree) tree {
	t.Helper()
	tr["batch.json"] = batchManifest(t, tr)
	tr["r_aggregate_metrics.json"] = `[{"agent_ref":{"name":"a"},"key_metrics":{"k":1}}]`
	report, err := Run(context.Background(), tr.files(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := report.Manifests[0]
	tr["batch_status.json"] = string(batch.Status(m.SHA256, "2026-08-22T10:00:00Z", report.Runs[0].Batch.Members))
	return tr
}

func batchManifest(t testing.TB, tr tree) string {
	t.Helper()
	report, err := Run(context.Background(), tr.files(), Options{Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	o := report.Runs[0].Batch.Observation.Agents[0]
	return fmt.Sprintf(`{"members":{"b":{"agent_name":"a","task_sources":["s"],"dataset_sha256":"%[1]s","expected_task_count":%[2]d,"expected_rollout_count":%[3]d,"repeat_policy":{"num_repeats":%[4]d,"seeded":%[5]v},"resolved_recipe_sha256":"%[1]s","metric_keys":["k"]}}}`,
		o.Dataset, o.Tasks, o.Rollouts, o.Repeats, o.Seeded)
}

// A fault is a change of a folder and the findings that it makes more, or fewer if they begin with a minus.
type fault struct {
	name   string
	base   func(testing.TB) tree
	change func(testing.TB, tree)
	option func(*Options)
	want   string
}

func replace(name, old, new string) func(testing.TB, tree) {
	return func(t testing.TB, tr tree) {
		t.Helper()
		if !strings.Contains(tr[name], old) {
			t.Fatalf("%s does not hold %s", name, old)
		}
		tr[name] = strings.Replace(tr[name], old, new, 1)
	}
}

func appended(name, text string) func(testing.TB, tree) {
	return func(_ testing.TB, tr tree) { tr[name] += text }
}

func removed(name string) func(testing.TB, tree) {
	return func(_ testing.TB, tr tree) { delete(tr, name) }
}

func given(o recovery.Current) func(*Options) { return func(p *Options) { p.Current = &o } }

func legacyBase(testing.TB) tree     { return legacy() }
func finalBase(t testing.TB) tree    { return covered(t, sound(t), true) }
func snapshotBase(t testing.TB) tree { return covered(t, sound(t), false) }
func batchBase(t testing.TB) tree    { return batched(t, sound(t)) }
func both(fs ...func(testing.TB, tree)) func(testing.TB, tree) {
	return func(t testing.TB, tr tree) {
		for _, f := range fs {
			f(t, tr)
		}
	}
}

// reinput replaces the inputs and makes the manifest fit them.
func reinput(inputs, reserved string) func(testing.TB, tree) {
	return func(t testing.TB, tr tree) {
		tr["r_materialized_inputs.jsonl"] = inputs
		tr["r_manifest.json"] = manifestText(t, inputs, reserved)
	}
}

// faults hold every finding id of a folder, save records.changed_after_index, which needs a file that changes.
var faults = []fault{
	{"journal", sound, appended("r_attempts.jsonl", ""), nil, "layout.draft_journal"},
	{"no output", sound, removed("r.jsonl"), nil, "layout.missing_output recovery.gap"},
	{"no output, no manifest", legacyBase, removed("r.jsonl"), nil, "layout.missing_output recovery.would_restart"},
	{"no sidecar", sound, removed("r_failures.jsonl"), nil, "layout.missing_failures recovery.gap"},
	{"no inputs", sound, removed("r_materialized_inputs.jsonl"), nil, "layout.missing_materialized"},
	{"no inputs, no manifest", legacyBase, removed("r_materialized_inputs.jsonl"), nil, "layout.no_inventory omitted.no_inventory recovery.would_restart"},
	{"torn results", sound, appended("r.jsonl", `{"torn`), nil, "layout.torn_tail"},
	{"torn sidecar", sound, appended("r_failures.jsonl", "\x00\x00"), nil, "layout.torn_tail"},
	{"torn inputs", sound, appended("r_materialized_inputs.jsonl", "{"), nil, "layout.torn_tail recovery.unreadable recovery.reader_disagreement"},
	{"malformed results", sound, appended("r.jsonl", "{\"a\":1,}\n"), nil, "layout.malformed_line"},
	{"glued results", sound, appended("r.jsonl", "{}{}\n"), nil, "layout.malformed_line"},
	{"malformed inputs", sound, appended("r_materialized_inputs.jsonl", "{\n"), nil, "layout.malformed_line recovery.unreadable"},
	{"not an object", sound, appended("r_failures.jsonl", "17"), nil, "layout.not_an_object"},
	{"NaN in the inputs", sound, appended("r_materialized_inputs.jsonl", "{\"x\":NaN}\n"), nil, "layout.malformed_line recovery.reader_disagreement"},
	{"orphans", legacyBase, both(removed("r.jsonl"), removed("r_materialized_inputs.jsonl")), nil, "layout.orphan_companion layout.no_inventory omitted.no_inventory recovery.would_restart"},
	{"leftovers", sound, both(appended(".r_manifest.json.x.tmp", "{"), appended(".r.jsonl.migrate-1", ""), appended("r.jsonl.upload.tmp", "")), nil, "layout.leftover_temp layout.leftover_temp layout.leftover_temp"},
	{"stale sidecar", legacyBase, appended("r_failures.jsonl", rowText(9, `,"_ng_failure_class":"agent_run_error"`)), nil, "layout.stale_sidecar records.not_expected"},
	{"stamped sidecar", legacyBase, appended("r_failures.jsonl", rowText(9, `,"_ng_failure_class":"agent_run_error","_ng_environment_server":"e"`)), nil, "records.not_expected"},
	{"two outputs", sound, appended("r.json", "{}"), nil, "layout.ambiguous_output"},
	{"odd name", func(testing.TB) tree {
		return tree{"x._materialized_inputs.jsonl": rowText(0, ""), "x.": rowText(0, result)}
	}, both(), nil, "layout.odd_name recovery.no_manifest"},
	{"a copy", sound, func(_ testing.TB, tr tree) {
		for name, text := range tr.clone() {
			tr["copy/"+name] = text
		}
	}, nil, "layout.duplicate_run recovery.current_unknown recovery.config_opaque"},
	{"rows without index", sound, both(reinput(rowText(0, "")+rowText(1, "")+rowText(2, "")+rowText(3, "")+`{"_ng_rollout_id":"free","agent_ref":{"name":"a"}}`+"\n", `{"0-0":1,"1-0":2,"2-0":1,"free":1}`),
		appended("r.jsonl", `{"_ng_rollout_id":"free","_ng_run_id":"`+runID+`"`+result+"}\n")), nil, "layout.merge_unsortable"},
	{"forced", func(t testing.TB) tree {
		tr := tree{}
		for name, text := range sound(t) {
			tr["unsafe_"+name] = text
		}
		return tr
	}, both(), nil, "layout.unsafe_reverification recovery.current_unknown recovery.config_opaque"},

	{"bad identity", sound, appended("r.jsonl", tagged(0, 0, `,"_ng_rollout_id":"-"`+result)), nil, "records.bad_identity"},
	{"no identity", sound, both(appended("r.jsonl", `{"_ng_run_id":"`+runID+`"`+result+"}\n")), nil, "records.no_identity layout.merge_unsortable"},
	{"identity twice", sound, reinput(rowText(0, "")+rowText(1, "")+rowText(2, "")+rowText(3, "")+rowText(3, ""), `{"0-0":1,"1-0":2,"2-0":1}`), nil, "records.duplicate_identity"},
	{"not expected", sound, appended("r.jsonl", tagged(9, 0, result)), nil, "records.not_expected"},
	{"beyond 2^53", sound, both(reinput(strings.ReplaceAll(rowText(0, "")+rowText(1, "")+rowText(2, "")+rowText(3, ""), `_task_index":3`, `_task_index":9007199254740993`), `{"0-0":1,"1-0":2,"2-0":1,"9007199254740993-0":1}`),
		appended("r.jsonl", strings.Replace(tagged(3, 0, result), `_task_index":3`, `_task_index":9007199254740992`, 1))), nil, "records.not_expected recovery.gap"},
	{"a text for a number", sound, both(replace("r.jsonl", `"_ng_task_index":0`, `"_ng_task_index":"0"`)), nil, "records.index_mismatch recovery.gap"},
	{"bad attempt", sound, appended("r.jsonl", strings.Replace(tagged(3, 0, result), `_attempt_index":0`, `_attempt_index":null`, 1)), nil, "records.bad_attempt"},
	{"index mismatch", sound, appended("r.jsonl", tagged(3, 0, `,"_ng_rollout_id":"0-0"`+result)), nil, "records.index_mismatch"},
	{"foreign row", sound, replace("r.jsonl", runID, "other"), nil, "records.foreign_run recovery.gap"},
	{"bad failure record", sound, replace("r_failures.jsonl", `"_ng_failure_class"`, `"_ng_failure_record":{},"_ng_failure_class"`), nil, "records.bad_failure_record"},
	{"inconsistent failure record", sound, replace("r_failures.jsonl", `"_ng_failure_class":"agent_run_error"`, `"_ng_failure_class":"agent_run_error","_ng_failure_record":{"episode_id":{"rollout_id":"1-0"},"run_id":"`+runID+`","source":"collector","delivery":"delivered","failure":{"failure_reason":"x","terminal":false}}`), nil,
		"records.inconsistent_failure_record"},
	{"unreserved", sound, appended("r.jsonl", tagged(3, 0, result)), nil, "records.unreserved_attempt"},
	{"conflict", sound, appended("r.jsonl", tagged(0, 0, `,"response":{},"reward":0`)), nil, "records.conflicting_outcome"},
	{"equal twice", sound, appended("r.jsonl", tagged(0, 0, `,"reward":1.0,"response":{}`)), nil, ""},
	{"wrong file", sound, appended("r.jsonl", tagged(0, 0, `,"_ng_failure_class":"agent_run_error"`)), nil, "records.wrong_artifact"},
	{"other inputs", sound, replace("r_materialized_inputs.jsonl", `"task_source":"s"`, `"task_source":"t"`), nil, "records.materialized_mismatch recovery.saved_inputs"},
	{"wide integer in the inputs", sound, replace("r_materialized_inputs.jsonl", `"task_source":"s"`, `"task_source":"s","n":18446744073709551616`), nil, "records.materialized_mismatch recovery.saved_inputs recovery.reader_disagreement"},
	{"unknown reservation", sound, replace("r_manifest.json", `"0-0":1`, `"0-0":1,"9-9":1`), nil, "records.unknown_reservation"},
	{"untyped response", sound, replace("r.jsonl", `"response":{}`, `"response":"x"`), nil, "records.untyped_crash outcomes.odd_result recovery.gap"},
	{"untyped run id", legacyBase, appended("r.jsonl", rowText(1, `,"_ng_run_id":[1]`)), nil, "records.untyped_crash"},
	{"lost manifest", sound, removed("r_manifest.json"), nil, "records.lost_manifest recovery.no_manifest -recovery.current_unknown -recovery.config_opaque"},
	{"mixed runs", sound, both(removed("r_manifest.json"), replace("r_failures.jsonl", runID, "other")), nil, "records.mixed_runs recovery.no_manifest -recovery.current_unknown -recovery.config_opaque"},
	{"result twice", legacyBase, appended("r.jsonl", rowText(0, `,"reward":0,"response":{}`)), nil, "records.duplicate_result"},

	{"coverage no JSON", finalBase, appended("r_coverage.json", "}"), nil, "coverage.unreadable -coverage.match"},
	{"coverage newer", finalBase, replace("r_coverage.json", `"schema_version": 2`, `"schema_version": 3`), nil, "coverage.unsupported -coverage.match"},
	{"coverage foreign", finalBase, replace("r_coverage.json", runID, "other"), nil, "coverage.foreign_run -coverage.match"},
	{"coverage match", sound, func(t testing.TB, tr tree) { covered(t, tr, true) }, nil, "coverage.match"},
	{"coverage stale", snapshotBase, appended("r.jsonl", tagged(0, 0, result)+tagged(2, 0, result)), nil, "records.conflicting_outcome -coverage.match"},
	{"coverage stale, sound", snapshotBase, both(appended("r_failures.jsonl", tagged(3, 0, `,"_ng_failure_class":"agent_run_error"`)), replace("r_manifest.json", `"2-0":1`, `"2-0":1,"3-0":1`)), nil, "coverage.stale -coverage.match"},
	{"coverage mismatch", finalBase, both(appended("r_failures.jsonl", tagged(3, 0, `,"_ng_failure_class":"agent_run_error"`)), replace("r_manifest.json", `"2-0":1`, `"2-0":1,"3-0":1`)), nil, "coverage.mismatch -coverage.match"},
	{"coverage inconsistent", finalBase, replace("r_coverage.json", `"unknown": 1`, `"unknown": 0`), nil, "coverage.inconsistent coverage.mismatch -coverage.match"},
	{"scored sum", finalBase, replace("r_coverage.json", `"scored": 2`, `"scored": 3`), nil, "coverage.scored_sum"},
	{"imputed", finalBase, both(replace("r_coverage.json", `"imputed": 0`, `"imputed": 2`), replace("r_coverage.json", `"scored": 2`, `"scored": 4`)), nil, "coverage.imputed"},
	{"counted zero", finalBase, both(replace("r_coverage.json", `"failures_counted_as_zero": 0`, `"failures_counted_as_zero": 2`), replace("r_coverage.json", `"scored": 2`, `"scored": 4`)), nil, "coverage.counted_zero"},

	{"unregistered", sound, replace("r_failures.jsonl", "agent_run_error", "weird"), nil, "outcomes.unregistered_kind"},
	{"odd result", sound, replace("r.jsonl", `"reward":1`, `"reward":null`), nil, "outcomes.odd_result"},
	{"migration", sound, both(replace("r.jsonl", `"reward":1`, `"reward":1,"invalid_judge_response":true`),
		appended("r_failures.jsonl", tagged(0, 0, `,"_ng_failure_class":"judge_invalid","_ng_migrated_invalid_judge_response":true,"invalid_judge_response":true`+result))), nil,
		"outcomes.migration_pair outcomes.reward_on_failure outcomes.unregistered_kind"},
	{"reward on a failure", sound, replace("r_failures.jsonl", `"_ng_failure_class"`, `"reward":0.0,"_ng_failure_class"`), nil, "outcomes.reward_on_failure"},
	{"cut reason", sound, replace("r_failures.jsonl", `"_ng_failure_class"`, `"error":"`+strings.Repeat("é", 2000)+`","_ng_failure_class"`), nil, "outcomes.message_truncated"},
	{"saved against a wish", sound, replace("r.jsonl", `"reward":1`, `"reward":1,"_ng_no_persist":1`), nil, "outcomes.no_persist_saved"},

	{"intentional", sound, replace("r_failures.jsonl", `"_ng_attempt_index":0,"_ng_failure_class":"agent_run_error"}`+"\n"+`{"_ng_task_index":2`, `"_ng_attempt_index":0,"_ng_failure_class":"agent_run_error"}`+"\n"+`{"_ng_omitted":true,"_ng_task_index":2`), nil, "omitted.intentional"},
	{"skip", sound, both(replace("r_failures.jsonl", "agent_run_error", "skipped"), replace("r_failures.jsonl", "agent_run_error\"", "skipped\",\"_ng_failure_terminal\":true")), nil, "omitted.skip outcomes.unregistered_kind"},
	{"all omitted", sound, both(func(_ testing.TB, tr tree) { tr["r.jsonl"] = "" }, replace("r_failures.jsonl", "agent_run_error", "skipped"), replace("r_failures.jsonl", "agent_run_error\"", "skipped\",\"_ng_failure_terminal\":true")), nil,
		"omitted.all omitted.skip outcomes.unregistered_kind recovery.gap"},
	{"hidden result", sound, replace("r.jsonl", `"reward":1`, `"reward":1,"_ng_omitted":1`), nil, "omitted.in_results omitted.intentional"},
	{"unroutable", sound, reinput(rowText(0, "")+rowText(1, "")+rowText(2, "")+`{"_ng_task_index":3,"_ng_rollout_index":0}`+"\n", `{"0-0":1,"1-0":2,"2-0":1}`), nil, "omitted.unroutable"},
	{"evidence", sound, appended("r_failures.jsonl", tagged(3, 0, `,"_ng_omitted_rollout":true,"_ng_failure_class":"cancelled"`)), nil, "omitted.evidence_rows"},
	{"evidence about nobody", sound, appended("r_failures.jsonl", tagged(9, 0, `,"_ng_omitted_rollout":true`)), nil, "omitted.evidence_rows omitted.unknown_identity"},
	{"the model's own", sound, replace("r_failures.jsonl", `"_ng_failure_class"`, `"_ng_failure_counts_as_zero":true,"_ng_failure_class"`), nil, "omitted.model_final"},

	{"manifest with a fault", sound, replace("r_manifest.json", `"legacy_import":false`, `"legacy_import":null`), nil, "recovery.unreadable_manifest -recovery.current_unknown -recovery.config_opaque"},
	{"manifest no JSON", sound, func(_ testing.TB, tr tree) { tr["r_manifest.json"] = "" }, nil, "recovery.unreadable_manifest -recovery.current_unknown -recovery.config_opaque"},
	{"manifest newer", sound, replace("r_manifest.json", `"schema_version":2`, `"schema_version":3`), nil, "recovery.unreadable_manifest -recovery.current_unknown -recovery.config_opaque"},
	{"no manifest", legacyBase, both(), nil, "recovery.no_manifest"},
	{"imported", sound, replace("r_manifest.json", `"legacy_import":false`, `"legacy_import":true`), nil, "recovery.legacy_identity"},
	{"overridden", sound, replace("r_manifest.json", `"identity_overridden":false`, `"identity_overridden":true`), nil, "recovery.overridden_identity"},
	{"current", sound, both(), given(recovery.Current{}), "recovery.source_dataset recovery.current_inputs recovery.configuration -recovery.current_unknown"},
	{"source", sound, both(), func(o *Options) { o.Source = store.Sum([]byte("dataset")) }, "recovery.source_match"},
	{"other source", sound, both(), func(o *Options) { o.Source = store.Sum(nil) }, "recovery.source_mismatch"},
	{"configuration", sound, func(t testing.TB, tr tree) {
		c := configOf(`{"a":{"responses_api_agents":{}}}`)
		digest, _, _ := c.Digest()
		replace("r_manifest.json", store.Sum([]byte("config")), digest)(t, tr)
	}, func(o *Options) { o.Config = configOf(`{"a":{"responses_api_agents":{}}}`) }, "recovery.config_match -recovery.config_opaque"},
	{"other configuration", sound, both(), func(o *Options) { o.Config = configOf(`{"a":{"responses_api_agents":{}}}`) }, "recovery.config_mismatch -recovery.config_opaque"},
	{"configuration with references", sound, both(), func(o *Options) { o.Config = configOf(`{"a":{"responses_api_agents":{"x":"${oc.env:X}"}}}`) }, "recovery.config_unverifiable -recovery.config_opaque"},
	{"configuration without the agent", sound, both(), func(o *Options) { o.Config = configOf(`{}`) }, "recovery.config_missing_server -recovery.config_opaque"},
	{"run id", sound, both(replace("r_manifest.json", runID, "r-1"), func(_ testing.TB, tr tree) {
		for _, name := range []string{"r.jsonl", "r_failures.jsonl"} {
			tr[name] = strings.ReplaceAll(tr[name], runID, "r-1")
		}
	}), nil, "recovery.run_id_shape"},
	{"gap", sound, replace("r_manifest.json", `"2-0":1`, `"2-0":3`), nil, "recovery.gap"},

	{"batch", sound, func(t testing.TB, tr tree) { batched(t, tr) }, nil, ""},
	{"batch unreadable", batchBase, both(), func(o *Options) { o.Manifests = []GivenManifest{{File: File{"elsewhere.json", broken{}}}} }, "batch.unreadable"},
	{"batch malformed", sound, both(), func(o *Options) {
		o.Manifests = []GivenManifest{{File: File{"elsewhere.json", source.Bytes("", []byte("{"))}}}
	}, "batch.malformed"},
	{"batch invalid", sound, appended("b.json", `{"members":{"b":{"dataset_sha256":1}}}`), nil, "batch.invalid"},
	{"batch agent", batchBase, replace("r_materialized_inputs.jsonl", `"name":"a"`, `"name":" "`), nil, "batch.row_agent -"},
	{"batch task index", batchBase, replace("r_materialized_inputs.jsonl", `"_ng_task_index":3`, `"_ng_task_index":3.0`), nil, "batch.row_task_index -"},
	{"batch rollout index", batchBase, replace("r_materialized_inputs.jsonl", `"_ng_rollout_index":0`, `"_ng_rollout_index":false`), nil, "batch.row_rollout_index -"},
	{"batch task source", batchBase, replace("r_materialized_inputs.jsonl", `"task_source":"s"`, `"task_source":""`), nil, "batch.row_task_source -"},
	{"batch twice", batchBase, appended("r_materialized_inputs.jsonl", rowText(3, `,"x":1`)), nil, "batch.row_duplicate -"},
	{"batch crash", batchBase, replace("r_materialized_inputs.jsonl", `"task_source":"s"`, `"task_source":"s","responses_create_params":1`), nil, "batch.untyped_crash -"},
	{"batch content", batchBase, appended("r_materialized_inputs.jsonl", strings.ReplaceAll(rowText(0, `,"x":1`)+rowText(1, "")+rowText(2, "")+rowText(3, ""), `"_ng_rollout_index":0`, `"_ng_rollout_index":1`)), nil, "batch.task_content -"},
	{"batch uneven", batchBase, appended("r_materialized_inputs.jsonl", strings.Replace(rowText(0, ""), `"_ng_rollout_index":0`, `"_ng_rollout_index":1`, 1)), nil, "batch.non_uniform -"},
	{"batch some seeds", batchBase, replace("r_materialized_inputs.jsonl", `"task_source":"s"`, `"task_source":"s","responses_create_params":{"metadata":{"extra_body":{"seed":1}}}`), nil, "batch.partial_seeds -"},
	{"batch same seeds", batchBase, func(_ testing.TB, tr tree) {
		tr["r_materialized_inputs.jsonl"] = ""
		for i := range 4 {
			tr["r_materialized_inputs.jsonl"] += strings.Replace(rowText(i/2, `,"responses_create_params":{"metadata":{"extra_body":{"seed":1}}}`), `"_ng_rollout_index":0`, fmt.Sprintf(`"_ng_rollout_index":%d`, i%2), 1)
		}
	}, nil, "batch.duplicate_seeds batch.duplicate_seeds -"},
	{"batch without inputs", batchBase, func(_ testing.TB, tr tree) { tr["r_materialized_inputs.jsonl"] = "" }, nil, "batch.no_members -"},
	{"batch other agents", batchBase, func(_ testing.TB, tr tree) {
		tr["r_materialized_inputs.jsonl"] = strings.ReplaceAll(tr["r_materialized_inputs.jsonl"], `"name":"a"`, `"name":"z"`)
	}, nil, "batch.missing_agents batch.unexpected_agents -"},
	{"batch mismatch", batchBase, replace("batch.json", `"task_sources":["s"]`, `"task_sources":["t"]`), nil, "batch.mismatch batch.status_other_manifest"},
	{"batch old floats", func(t testing.TB) tree {
		tr := sound(t)
		reinput(rowText(0, `,"w":1e20`)+rowText(1, "")+rowText(2, "")+rowText(3, ""), `{"0-0":1,"1-0":2,"2-0":1}`)(t, tr)
		return tr
	}, func(t testing.TB, tr tree) {
		report, err := Run(context.Background(), tr.files(), Options{Observe: true})
		if err != nil {
			t.Fatal(err)
		}
		o := report.Runs[0].Batch.Observation.Agents[0]
		tr["batch.json"] = strings.Replace(batchManifest(t, tr), o.Dataset, o.DatasetOld, 1)
	}, nil, "batch.old_float_text"},
	{"status of another manifest", batchBase, replace("batch_status.json", `"manifest_sha256": "`, `"manifest_sha256": "0`), nil, "batch.status_other_manifest"},
	{"status with other members", batchBase, replace("batch_status.json", `"a": {`, `"b": {`), nil, "batch.status_members"},
	{"status mismatch", batchBase, replace("batch_status.json", `"benchmark_slug": "b"`, `"benchmark_slug": "c"`), nil, "batch.status_mismatch"},
	{"status stale", batchBase, both(replace("batch_status.json", `"aggregation_status": "complete"`, `"aggregation_status": "pending"`), replace("batch_status.json", `"completed_rollout_count": 2`, `"completed_rollout_count": 1`)), nil, "batch.status_stale batch.status_stale"},
	{"status stale by an interruption", batchBase, both(replace("r_manifest.json", `"2-0":1`, `"2-0":2`)), nil, "batch.status_stale recovery.gap"},
	{"deferred", batchBase, replace("batch_status.json", `"aggregation_status": "complete"`, `"aggregation_status": "deferred"`), nil, "batch.deferred"},
	{"status time", batchBase, replace("batch_status.json", `"updated_at": "2026`, `"updated_at": "26`), nil, "batch.status_time"},
	{"status no object", batchBase, func(_ testing.TB, tr tree) { tr["batch_status.json"] = "[]" }, nil, "batch.unreadable"},
	{"status no JSON", batchBase, func(_ testing.TB, tr tree) { tr["batch_status.json"] = "{" }, nil, "batch.malformed"},
	{"status alone", batchBase, removed("batch.json"), nil, "batch.status_alone"},
}

// broken is a source that cannot be read.
type broken struct{}

func (broken) Name() string                      { return "broken" }
func (broken) Size() int64                       { return 1 }
func (broken) ReadAt([]byte, int64) (int, error) { return 0, fmt.Errorf("broken") }

func configOf(global string) *recovery.Config {
	v, err := value.Strict([]byte(global))
	if err != nil {
		panic(err)
	}
	return recovery.NewConfig(value.Object(), v)
}

// ids lists the finding ids of a report, sorted.
func ids(t testing.TB, tr tree, o Options) []string {
	t.Helper()
	report, err := Run(context.Background(), tr.files(), o)
	if err != nil {
		t.Fatal(err)
	}
	documents(t, report)
	list := []string{}
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Message() == "" || f.Severity.Rank() < 0 {
			t.Errorf("finding %+v", f)
		}
		list = append(list, f.ID)
	}
	sort.Strings(list)
	return list
}

// TestFaults makes every fault in a folder without one, and sees that it and nothing else is found. A list that ends
// with a minus leaves open which findings of other areas go with it.
func TestFaults(t *testing.T) {
	covered := map[string]bool{finding.CurrentUnknown: true, finding.ConfigOpaque: true, finding.ChangedAfterIndex: true}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			base := f.base(t)
			before := ids(t, base, Options{})
			if _, odd := base["x."]; odd || base["unsafe_r.jsonl"] != "" {
				before = nil // the base has the fault in its name
			}
			f.change(t, base)
			o := Options{}
			if f.option != nil {
				f.option(&o)
			}
			got := ids(t, base, o)
			open := strings.HasSuffix(f.want, " -")
			want := slices.Clone(before)
			for _, id := range strings.Fields(strings.TrimSuffix(f.want, " -")) {
				if id, minus := strings.CutPrefix(id, "-"); minus {
					at := slices.Index(want, id)
					if at < 0 {
						t.Fatalf("%s was not there", id)
					}
					want = slices.Delete(want, at, at+1)
					continue
				}
				if f.name != "no manifest" || !slices.Contains(before, id) {
					want = append(want, id)
				}
				covered[id] = true
			}
			sort.Strings(want)
			if open {
				area := func(list []string) []string {
					return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return !strings.HasPrefix(id, "batch.") || strings.HasPrefix(id, "batch.status") })
				}
				got, want = area(got), area(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("found %q\nwant  %q", got, want)
			}
		})
	}
	for _, d := range finding.All() {
		area, _, _ := strings.Cut(d.ID, ".")
		if slices.Contains([]string{"layout", "records", "coverage", "outcomes", "omitted", "recovery", "batch"}, area) && !covered[d.ID] {
			t.Errorf("no fault makes %s", d.ID)
		}
	}
}

// TestChangedAfterIndex replaces the rollouts file between two readings of it.
func TestChangedAfterIndex(t *testing.T) {
	tr := sound(t)
	tr["r.jsonl"] += tagged(0, 0, `,"reward":1.0,"response":{}`) // makes the first row be read again
	files := tr.files()
	for i := range files {
		if files[i].Path == "r.jsonl" {
			files[i].Source = &swapped{text: tr["r.jsonl"], later: strings.Replace(tr["r.jsonl"], `"_ng_task_index":0`, `"_ng_task_index":5`, 1)}
		}
	}
	report, err := Run(context.Background(), files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := report.Runs[0]
	at := slices.IndexFunc(run.Findings, func(f finding.Finding) bool { return f.ID == finding.ChangedAfterIndex })
	if at < 0 || run.Findings[at].Line != 1 || run.Findings[at].Rollout != "0-0" || run.Reliable {
		t.Errorf("%+v", run.Findings)
	}
	if err := run.Index.Check(0, run.Index.Attempts(0)[0].Number, []byte(`{}`)); err != records.ErrChanged {
		t.Error(err)
	}
}

// swapped is a source whose content changes after it was read once.
type swapped struct {
	text, later string
	read        bool
}

func (s *swapped) Name() string { return "r.jsonl" }
func (s *swapped) Size() int64  { return int64(len(s.text)) }
func (s *swapped) ReadAt(b []byte, at int64) (int, error) {
	text := s.text
	if s.read {
		text = s.later
	}
	s.read = true
	return copy(b, text[at:]), nil
}
