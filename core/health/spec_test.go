package health

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// The worked example of the rules (spec health §20): four rows, one blank line, the last row cut.
const (
	example1 = `{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"usage":{"input_tokens":3,"output_tokens":2}},"ng_trajectory":{"task_id":"t","rollout_id":"r","turns":[{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":1,"answer":"ok","step_count":1,"model_calls":[{"model_call_id":"c1"}]}],"model_calls":[{"model_call_id":"c1","response":{"output_text":"ok"},"response_metadata":{"status_code":200},"token_stats":{"prompt_tokens":3,"completion_tokens":2}}]}}`
	example2 = `{"_ng_task_index":0,"_ng_rollout_index":1,"response":{"usage":{"input_tokens":3,"output_tokens":0}},"ng_trajectory":{"task_id":"t","rollout_id":"r","turns":[{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":1,"answer":"ok","step_count":1,"model_calls":[{"model_call_id":"c1"}]}],"model_calls":[{"model_call_id":"c1","response":{},"response_metadata":{"status_code":429,"finish_reason":"length","model_ref":{"type":"responses_api_models","name":"policy"}},"token_stats":{"prompt_tokens":3,"completion_tokens":0}}]},"_ng_rollout_id":"task0-try1"}`
	example3 = `{"_ng_task_index":1,"_ng_rollout_index":0,"response":{"usage":{"input_tokens":3,"output_tokens":2}},"ng_trajectory":{"task_id":"t","rollout_id":"r","turns":[{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":1,"answer":" ","step_count":1,"model_calls":[{"model_call_id":"lost:7"}]}],"model_calls":[{"model_call_id":"c1","response":{"output_text":"ok"},"response_metadata":{"status_code":200},"token_stats":{"prompt_tokens":3,"completion_tokens":2}}],"gaps":[{"code":"model_call_reference_conflict","invocation_id":"i","detail":"before_model_call:c1"}]}}`
)

var example = example1 + "\n" + example2 + "\n\n" + example3 + "\n" + example1[:40]

const exampleVerdicts = `{"_ng_task_index":0,"_ng_rollout_index":0,"rollout_id":"r","verdict":"healthy","findings":[],"unobserved":[]}
{"_ng_task_index":0,"_ng_rollout_index":1,"rollout_id":"task0-try1","verdict":"unhealthy","findings":[{"check":"rollout_ended_on_failed_model_call","locator":{"call_id":"c1"},"detail":{"model_ref":"responses_api_models/policy","status":429,"error_category":null,"observed_calls":1,"successful_calls":0}},{"check":"model_call_zero_completion_tokens","locator":{"call_id":"c1"},"detail":{"completion_tokens":0}},{"check":"model_call_failed","locator":{"call_id":"c1"},"detail":{"status":429,"error_category":null,"terminal":true}},{"check":"model_call_runaway_generation","locator":{"call_id":"c1"},"detail":{"finish_reason":"length"}}],"unobserved":[]}
{"_ng_task_index":1,"_ng_rollout_index":0,"rollout_id":"r","verdict":"unhealthy","findings":[{"check":"agent_turn_hollow","locator":{"turn":1},"detail":{"reason":"agent turn has no message or tool calls"}},{"check":"trajectory_capture_mismatch","locator":{"call_id":"7"},"detail":{"kind":"missing_captured_call"}},{"check":"trajectory_capture_mismatch","locator":{"call_id":"c1"},"detail":{"kind":"conflicting_call_ownership","observation_gap":"model_call_reference_conflict","invocation_id":"i"}}],"unobserved":["model_call_zero_completion_tokens","model_call_missing_token_counts","model_call_failed","rollout_token_count_mismatch","model_call_runaway_generation"]}
{"_ng_task_index":"__unreadable_record__:input-0:line-5","_ng_rollout_index":0,"rollout_id":"__unreadable_record__:input-0:line-5-0","verdict":"unhealthy","findings":[{"check":"record_unreadable","locator":{"source_file":"rollouts.jsonl","line":5},"detail":{"reason":"rollout record is unreadable","error":"JSONDecodeError"}}],"unobserved":["check_execution_error","rollout_duplicate_identity","rollout_missing_agent_turns","rollout_ended_on_failed_model_call","agent_turn_hollow","model_call_zero_completion_tokens","model_call_missing_token_counts","trajectory_capture_mismatch","model_call_failed","rollout_token_count_mismatch","model_call_runaway_generation"]}
`

func TestExample(t *testing.T) {
	for _, c := range []struct {
		name, data string
		size       int
		sum        string
	}{
		{"empty", "", 2967, "704c441fb9246fd0cc368ad21ad7836bc89f7d7d31eb8db14dfbf602ac47f16d"},
		{"blank lines", "\n \t\r\n\v\f\n", 2967, "704c441fb9246fd0cc368ad21ad7836bc89f7d7d31eb8db14dfbf602ac47f16d"},
		{"first line", example1 + "\n", 3090, "e7748e1ed59a2d0eb6edcb41a2ccbd9559c7b20c8c4d9a0d4ea7dcae887d07a4"},
		{"example", example, 3395, "4781633ffc8d11a18b867c43ee7ffec2f72d7120eaacaf2db1f1305b4c908560"},
	} {
		s := summaryOf(t, judge(t, c.data, Options{}))
		if len(s) != c.size || digestOf(s) != c.sum {
			t.Errorf("%s: %d bytes, %s\n%s", c.name, len(s), digestOf(s), s)
		}
	}
	if have := verdictsOf(t, judge(t, example, Options{})); have != exampleVerdicts {
		t.Errorf("verdicts\n%s", have)
	}
	if have := verdictsOf(t, judge(t, "", Options{})); have != "" {
		t.Errorf("verdicts of an empty file: %q", have)
	}
}

// TestSameRun holds what must not matter: reading the run again, how rows are mapped, and mapping one
// row with the memory of all others.
func TestSameRun(t *testing.T) {
	first := judge(t, example, Options{})
	rows := mapFiles(file{"rollouts.jsonl", []byte(example)})
	for range 2 {
		r, err := reduce(rows, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if summaryOf(t, r) != summaryOf(t, first) || verdictsOf(t, r) != verdictsOf(t, first) || verdictsOf(t, r) != verdictsOf(t, r) {
			t.Error("the second reduction differs")
		}
	}
	for i, line := range strings.Split(example, "\n") {
		if line == "" {
			continue
		}
		alone := mapFiles(file{"rollouts.jsonl", []byte(line)})
		for _, r := range rows {
			if int(r.line) == i+1 && string(alone[0].digest) != string(r.digest) {
				t.Errorf("line %d: the digest depends on other rows", r.line)
			}
		}
	}
}

const unobserved9 = `["rollout_missing_agent_turns","rollout_ended_on_failed_model_call","agent_turn_hollow","model_call_zero_completion_tokens","model_call_missing_token_counts","trajectory_capture_mismatch","model_call_failed","rollout_token_count_mismatch","model_call_runaway_generation"]`

const unobserved11 = `["check_execution_error","rollout_duplicate_identity",` + `"rollout_missing_agent_turns","rollout_ended_on_failed_model_call","agent_turn_hollow","model_call_zero_completion_tokens","model_call_missing_token_counts","trajectory_capture_mismatch","model_call_failed","rollout_token_count_mismatch","model_call_runaway_generation"]`

// bare is the verdict row of a row without a trajectory.
func bare(task, rollout, id, stage string) string {
	s := `{"_ng_task_index":` + task + `,"_ng_rollout_index":` + rollout + `,"rollout_id":` + id + `,"verdict":"unobserved","findings":[],"unobserved":` + unobserved9
	if stage != "" {
		s += `,"stage_index":` + stage
	}
	return s + "}\n"
}

func unreadable(source, line int, class string) string {
	key := fmt.Sprintf("__unreadable_record__:input-%d:line-%d", source, line)
	return `{"_ng_task_index":"` + key + `","_ng_rollout_index":0,"rollout_id":"` + key + `-0","verdict":"unhealthy","findings":[{"check":"record_unreadable","locator":{"source_file":"rollouts.jsonl","line":` +
		fmt.Sprint(line) + `},"detail":{"reason":"rollout record is unreadable","error":"` + class + `"}}],"unobserved":` + unobserved11 + "}\n"
}

// TestEdges goes through the edge cases of the rules that a whole file shows (spec health §19); those of a
// single check stand with the check.
func TestEdges(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	for _, c := range []struct{ name, data, want string }{
		{"no final line end", `{}`, bare("0", "0", `"0-0"`, "")},
		{"torn last line", "{}\n{\"_ng_task", bare("0", "0", `"0-0"`, "") + unreadable(0, 2, "JSONDecodeError")},
		{"byte-order mark", "\ufeff{}\n{}", bare("1", "0", `"1-0"`, "") + unreadable(0, 1, "JSONDecodeError")},
		{"CRLF", "{}\r\n{}\r\n", bare("0", "0", `"0-0"`, "") + bare("1", "0", `"1-0"`, "")},
		{"bare CR", "{}\r{}\r", unreadable(0, 1, "JSONDecodeError")},
		{"two objects", "{}{}\n", unreadable(0, 1, "JSONDecodeError")},
		{"blank lines of all kinds", "\f\v\t\r\n \n{}\n", bare("0", "0", `"0-0"`, "")},
		{"white space around", "\f{}\v\n", bare("0", "0", `"0-0"`, "")},
		{"no-break space", "\u00a0\n", unreadable(0, 1, "JSONDecodeError")},
		{"information separator", "\x1c\n", unreadable(0, 1, "JSONDecodeError")},
		{"line separator", "\u2028\n", unreadable(0, 1, "JSONDecodeError")},
		{"array", "[]", unreadable(0, 1, "ValueError")},
		{"number", "1", unreadable(0, 1, "ValueError")},
		{"null", "null", unreadable(0, 1, "ValueError")},
		{"text", `"x"`, unreadable(0, 1, "ValueError")},
		{"NaN", `{"a":NaN}`, unreadable(0, 1, "JSONDecodeError")},
		{"Infinity", `{"a":-Infinity}`, unreadable(0, 1, "JSONDecodeError")},
		{"overflow", `{"a":1e999}`, unreadable(0, 1, "JSONDecodeError")},
		{"leading zero", `{"a":01}`, unreadable(0, 1, "JSONDecodeError")},
		{"control character", "{\"a\":\"\x01\"}", unreadable(0, 1, "JSONDecodeError")},
		{"bad UTF-8", "{\"a\":\"\xff\"}", unreadable(0, 1, "JSONDecodeError")},
		{"half surrogate", `{"a":"\ud800"}`, unreadable(0, 1, "JSONDecodeError")},
		{"too deep", deep(1025), unreadable(0, 1, "JSONDecodeError")},
		{"deep enough", deep(1024), bare("0", "0", `"0-0"`, "")},
		{"duplicate keys", `{"_ng_task_index":1,"_ng_task_index":2}`, bare("2", "0", `"2-0"`, "")},
		{"bools", `{"_ng_task_index":true,"_ng_rollout_index":false}`, bare("1", "0", `"True-False"`, "")},
		{"whole floats", `{"_ng_task_index":1.0,"_ng_rollout_index":2.0}`, bare("1", "2", `"1.0-2.0"`, "")},
		{"large index", `{"_ng_task_index":18446744073709551615}`, bare("18446744073709551615", "0", `"18446744073709551615-0"`, "")},
		{"small index", `{"_ng_task_index":-9223372036854775808}`, bare("-9223372036854775808", "0", `"-9223372036854775808-0"`, "")},
		{"minus zero", `{"_ng_task_index":-0}`, bare("0", "0", `"0-0"`, "")},
		{"float minus zero", `{"_ng_task_index":-0.0}`, bare("0", "0", `"-0.0-0"`, "")},
		{"large float", `{"_ng_task_index":9.2e18}`, bare("9200000000000000000", "0", `"9.2e+18-0"`, "")},
		{"empty text", `{"_ng_task_index":""}`, bare(`""`, "0", `"-0"`, "")},
		{"stage null", `{"stage_index":null}`, bare("0", "0", `"0-0"`, "")},
		{"stage", `{"stage_index":true}`, bare("0", "0", `"0-0"`, "1")},
		{"stage text", `{"stage_index":"s"}`, bare("0", "0", `"0-0"`, `"s"`)},
		{"id false", `{"_ng_rollout_id":false}`, bare("0", "0", `"0-0"`, "")},
		{"id zero", `{"_ng_rollout_id":0}`, bare("0", "0", `"0-0"`, "")},
		{"id empty", `{"_ng_rollout_id":""}` + "\n" + `{"_ng_rollout_id":[]}`, bare("0", "0", `"0-0"`, "") + bare("1", "0", `"1-0"`, "")},
		{"id true", `{"_ng_rollout_id":true}`, bare("0", "0", `"True"`, "")},
		{"id list", `{"_ng_rollout_id":[1,"a",null]}`, bare("0", "0", `"[1, 'a', None]"`, "")},
		{"id like a derived one", `{"_ng_rollout_id":"0-0"}`, bare("0", "0", `"0-0"`, "")},
	} {
		if have := verdictsOf(t, judge(t, c.data, Options{})); have != c.want {
			t.Errorf("%s\nwant %s\nhave %s", c.name, c.want, have)
		}
	}
}

func TestBadIndex(t *testing.T) {
	for _, row := range []string{
		`{"_ng_task_index":null}`, `{"_ng_task_index":1.5}`, `{"_ng_task_index":9.3e18}`, `{"_ng_task_index":18446744073709551616}`,
		`{"_ng_task_index":-9223372036854775809}`, `{"_ng_task_index":[]}`, `{"_ng_rollout_index":null}`, `{"_ng_rollout_index":{}}`, `{"stage_index":0.5}`,
	} {
		rows := mapFiles(file{"dir/rollouts.jsonl", []byte("\n{}\n" + row)})
		_, err := reduce(rows, Options{})
		member := row[2:strings.Index(row, `":`)]
		value := row[strings.Index(row, ":")+1 : len(row)-1]
		if !errors.Is(err, ErrIdentity) || !strings.HasPrefix(err.Error(), "dir/rollouts.jsonl:3: "+member+" is "+value+": ") {
			t.Errorf("%s: %v", row, err)
		}
		report, err := reduce(rows, Options{SkipBadIndex: true})
		if err != nil {
			t.Fatal(err)
		}
		if s := report.Stats(); s.Skipped != 1 || s.Records != 1 || report.Rows() != 2 || report.Verdict(1) != Skipped || report.TaskOf(1) != -1 ||
			report.TaskCount() != 1 || len(report.Findings(1)) != 0 || len(report.Unobserved(1)) != 0 {
			t.Errorf("%s: %+v", row, s)
		}
		if have := verdictsOf(t, report); have != bare("0", "0", `"0-0"`, "") {
			t.Error(have)
		}
		if summaryOf(t, report) != summaryOf(t, judge(t, "{}", Options{})) {
			t.Error("a skipped row shows in the summary")
		}
	}
	long := mapFiles(file{"f", []byte(`{"_ng_task_index":["` + strings.Repeat("é", 100) + `"]}`)})
	if _, err := reduce(long, Options{}); err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "…") {
		t.Error(err)
	}
}

func TestDuplicates(t *testing.T) {
	index := func(task, rollout, stage string) string {
		return `{"_ng_task_index":` + task + `,"_ng_rollout_index":` + rollout + `,"stage_index":` + stage + `}` + "\n"
	}
	data := index("1", "0", "null") + index("1.0", "false", "null") + index("1", "0", "0") + index(`"1"`, "0", "null") + `{"_ng_task_index":true}` + "\n" + `{}` + "\n" + index("5", "0", "null")
	r := judge(t, data, Options{})
	var have []string
	for i := range r.Rows() {
		n := "–"
		for _, f := range r.Findings(i) {
			n = f.Get("duplicate_count").String()
		}
		have = append(have, r.Verdict(i).String()+" "+n)
	}
	want := "unhealthy 3, unhealthy 3, unobserved –, unobserved –, unhealthy 3, unhealthy 2, unhealthy 2"
	if s := strings.Join(have, ", "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	if c := r.Checks()[2]; c.Fired != 5 || c.Rollouts != 5 || c.Tasks != 2 || c.Evaluated != 7 {
		t.Errorf("%+v", c)
	}
	r = judge(t, data, Options{Ignored: []string{"rollout_duplicate_identity"}})
	if s := r.Stats(); s.Unobserved != 7 || r.Checks()[2].Ignored != 7 {
		t.Errorf("%+v", s)
	}
	// The finding comes last, and an unreadable line can be one of a group as well.
	r = judge(t, "[]\n"+`{"_ng_task_index":"__unreadable_record__:input-0:line-1"}`, Options{})
	if f := r.Findings(0); len(f) != 2 || f[0].Check != "record_unreadable" || f[1].Check != "rollout_duplicate_identity" ||
		!r.Missing(0).Has(2) || r.Checks()[2].Evaluated != 1 || r.Checks()[2].Unobserved != 1 {
		t.Errorf("%+v", f)
	}
}

// TestSeveralFiles holds ordinals over files and the same file given twice.
func TestSeveralFiles(t *testing.T) {
	twice := mapFiles(file{"rollouts.jsonl", []byte("{}\n[\n{\"_ng_task_index\":9}")}, file{"./x//rollouts.jsonl", []byte("{}\n[\n{\"_ng_task_index\":9}")})
	r, err := reduce(twice, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := bare("0", "0", `"0-0"`, "") + bare("3", "0", `"3-0"`, "")
	nine := strings.Replace(strings.Replace(bare("9", "0", `"9-0"`, ""), "unobserved", "unhealthy", 1), `"findings":[]`,
		`"findings":[{"check":"rollout_duplicate_identity","detail":{"duplicate_count":2}}]`, 1)
	second := strings.Replace(unreadable(1, 2, "JSONDecodeError"), "rollouts.jsonl", "x/rollouts.jsonl", 1)
	want += nine + nine + unreadable(0, 2, "JSONDecodeError") + second
	if have := verdictsOf(t, r); have != want {
		t.Errorf("%s\nwant %s", have, want)
	}
}

// TestVerdictOrder holds the order of rows: whole numbers by value, then texts, no stage among the texts.
func TestVerdictOrder(t *testing.T) {
	var data string
	rows := []string{
		`"_ng_task_index":"b"`, `"_ng_task_index":10`, `"_ng_task_index":"7"`, `"_ng_task_index":-3`, `"_ng_task_index":18446744073709551615`, `"_ng_task_index":-10`,
		`"_ng_task_index":9,"stage_index":"Z"`, `"_ng_task_index":9,"stage_index":"A"`, `"_ng_task_index":9,"stage_index":5`, `"_ng_task_index":9`,
		`"_ng_task_index":9,"stage_index":"None"`, `"_ng_task_index":9,"stage_index":null,"n":2`, `"_ng_task_index":9,"stage_index":-1`,
		`"_ng_task_index":9,"_ng_rollout_index":"x"`, `"_ng_task_index":9,"_ng_rollout_index":2`, `"_ng_task_index":"é"`, `"_ng_task_index":"a\u0000"`, `"_ng_task_index":"a"`,
	}
	for i, r := range rows {
		data += fmt.Sprintf(`{"_ng_rollout_id":"%d",%s}`, i, r) + "\n"
	}
	var order []string
	for line := range strings.SplitSeq(verdictsOf(t, judge(t, data, Options{})), "\n") {
		if _, rest, ok := strings.Cut(line, `"rollout_id":"`); ok {
			order = append(order, rest[:strings.IndexByte(rest, '"')])
		}
	}
	if have, want := strings.Join(order, " "), "5 3 12 8 7 9 10 11 6 14 13 1 4 2 17 16 0 15"; have != want {
		t.Errorf("%s\nwant %s", have, want)
	}
}

// TestTaskOrder holds the order and the shared keys of tasks in the summary.
func TestTaskOrder(t *testing.T) {
	var data string
	for _, task := range []string{`"a"`, `2`, `100`, `-1`, `10`, `9`, `"7"`, `7`, `"-1"`, `"07"`, `12345678901`, `123456789`, `"B"`} {
		data += `{"_ng_task_index":` + task + `}` + "\n"
	}
	data += `{"_ng_task_index":"7","_ng_rollout_index":1}` + "\n"
	r := judge(t, data, Options{})
	summary := summaryOf(t, r)
	var order []string
	for line := range strings.SplitSeq(summary[strings.Index(summary, `"tasks"`):], "\n") {
		if key, ok := strings.CutPrefix(line, `    "`); ok {
			order = append(order, key[:strings.IndexByte(key, '"')])
		}
	}
	if have, want := strings.Join(order, " "), "-1 10 100 123456789 12345678901 2 7 9 07 B a"; have != want {
		t.Errorf("%s\nwant %s", have, want)
	}
	if !strings.Contains(summary, "    \"7\": {\n      \"repeats\": 2,") {
		t.Error("the text does not replace the number")
	}
	if r.TaskCount() != 13 || r.Checks()[12].Unobserved != 13 {
		t.Errorf("%d tasks, %+v", r.TaskCount(), r.Checks()[12])
	}
}
