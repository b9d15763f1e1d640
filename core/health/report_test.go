package health

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/health/check"
)

func TestNormalizeIgnored(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {",, ,", ""}, {"model_call_failed", "model_call_failed"},
		{" model_call_failed ,\tagent_turn_hollow\u00a0,,model_call_failed,", "model_call_failed agent_turn_hollow"},
		{"task_consistently_unhealthy|check_execution_error", "task_consistently_unhealthy check_execution_error"},
		{"\x1cmodel_call_failed\x1f|", "model_call_failed"},
	} {
		have, err := NormalizeIgnored(strings.Split(c.in, "|"))
		if err != nil || have == nil || strings.Join(have, " ") != c.want {
			t.Errorf("%q: %q, %v", c.in, have, err)
		}
	}
	_, err := NormalizeIgnored([]string{"not_a_check,agent_turn_hollow", "another", "é", "not_a_check", "Z"})
	if !errors.Is(err, ErrUnknownCheck) || err.Error() != "Unknown rollout health check(s): Z, another, not_a_check, é" {
		t.Error(err)
	}
	if have, err := NormalizeIgnored(nil); err != nil || have == nil || len(have) != 0 {
		t.Errorf("%q %v", have, err)
	}
}

func TestRules(t *testing.T) {
	if _, err := NewReducer(Options{Ignored: []string{"x"}}); !errors.Is(err, ErrUnknownCheck) {
		t.Error(err)
	}
	if _, err := NewReducer(Options{Profile: "1.0"}); !errors.Is(err, ErrUnknownProfile) {
		t.Error(err)
	}
	r, err := NewRules(Options{Profile: "main", Ignored: []string{"record_unreadable"}})
	if err != nil || r.Profile() != check.Main || r.Profile().String() != "main" || !r.Ignored().Has(check.RecordUnreadable) || r.Ignored().Len() != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestText(t *testing.T) {
	r := judge(t, "{}\n[]", Options{Ignored: []string{"task_consistently_unhealthy", "agent_turn_hollow"}})
	want := "Rollout health: 2 checked, 0 healthy, 1 unhealthy, 1 unobserved (ignored: agent_turn_hollow, task_consistently_unhealthy)\nQuality summary: a/quality_summary.json\n"
	if have := r.Text("a//./quality_summary.json"); have != want {
		t.Error(have)
	}
}

func TestLexical(t *testing.T) {
	for in, want := range map[string]string{
		"": ".", ".": ".", "./": ".", "a": "a", "./a": "a", "a/./b//c/": "a/b/c", "a/../b": "a/../b", "..": "..", "/": "/", "/a": "/a",
		"//a": "//a", "///a": "/a", "//": "//", "/./a": "/a", "a/.": "a", ".a/..b": ".a/..b",
	} {
		if have := Lexical(in); have != want {
			t.Errorf("%q: %q, want %q", in, have, want)
		}
	}
}

// TestCompact holds the one-line form to the indented one.
func TestCompact(t *testing.T) {
	for _, data := range []string{"", example} {
		r := judge(t, data, Options{Ignored: []string{"agent_turn_hollow"}})
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(summaryOf(t, r))); err != nil {
			t.Fatal(err)
		}
		if have := string(r.SummaryCompact()); have != want.String()+"\n" {
			t.Error(have)
		}
	}
}

// TestIgnored holds that to ignore a check removes it and nothing else.
func TestIgnored(t *testing.T) {
	for _, folder := range cases(t) {
		files, _ := filepath.Glob(filepath.Join(folder, "input", "*.jsonl"))
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rows := mapFiles(file{filepath.Base(path), data})
			full, err := reduce(rows, Options{})
			if err != nil {
				continue
			}
			for i, c := range check.All() {
				r, err := reduce(rows, Options{Ignored: []string{c.ID}})
				if err != nil {
					t.Fatal(err)
				}
				for k := range rows {
					var want []string
					for _, f := range full.Findings(k) {
						if f.Check != c.ID && f.Get("failed_check").Text != c.ID {
							want = append(want, fmt.Sprint(f))
						}
					}
					var have []string
					for _, f := range r.Findings(k) {
						have = append(have, fmt.Sprint(f))
					}
					if strings.Join(have, "\n") != strings.Join(want, "\n") {
						t.Errorf("%s:%d without %s\n%s\nwant\n%s", path, rows[k].line, c.ID, have, want)
					}
					if r.Missing(k).Has(i) || r.Fired(k).Has(i) || full.Missing(k)&^(1<<i) != r.Missing(k) {
						t.Errorf("%s:%d: %b without %s", path, rows[k].line, r.Missing(k), c.ID)
					}
				}
			}
			all, err := reduce(rows, Options{Ignored: check.Every.IDs()})
			if err != nil || all.Stats().Healthy != len(rows) {
				t.Errorf("%s: not all healthy with everything ignored", path)
			}
		}
	}
}

// TestAgreement holds the different views of one report to each other, for both profiles.
func TestAgreement(t *testing.T) {
	for _, folder := range cases(t) {
		files, _ := filepath.Glob(filepath.Join(folder, "input", "*.jsonl"))
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rows := mapFiles(file{filepath.Base(path), data})
			for _, profile := range []string{"0.7", "main"} {
				o := Options{Profile: profile, Ignored: []string{"rollout_duplicate_identity"}, SkipBadIndex: true}
				rules, _ := NewRules(o)
				r, err := reduce(rows, o)
				if err != nil {
					t.Fatal(err)
				}
				agree(t, r, rows, data, rules)
			}
		}
	}
}

func agree(t *testing.T, r *Report, rows []mapped, data []byte, rules Rules) {
	t.Helper()
	stats, checks := r.Stats(), r.Checks()
	fired, touched, missing := map[string]int64{}, map[string]int{}, map[string]int{}
	verdicts := map[Verdict]int{}
	for i := range rows {
		verdicts[r.Verdict(i)]++
		if r.Verdict(i) == Skipped {
			continue
		}
		p, err := rules.Preview(rows[i].digest)
		if err != nil || p.Verdict != r.Verdict(i) || p.Fired != r.Fired(i) || p.Unobserved != r.Missing(i) {
			t.Errorf("row %d: preview %+v, %v", i, p, err)
		}
		seen := map[string]bool{}
		per := map[string]int{}
		for _, f := range r.Findings(i) {
			fired[f.Check]++
			per[f.Check]++
			seen[f.Check] = true
			if f.Place.Offset < 0 || rows[i].offset+f.Place.Offset+f.Place.Length > int64(len(data)) {
				t.Errorf("row %d: %s stands at %+v", i, f.Check, f.Place)
			}
			if f.Place.Length > 0 && !json.Valid(data[rows[i].offset+f.Place.Offset:][:f.Place.Length]) {
				t.Errorf("row %d: %s does not point at a value", i, f.Check)
			}
			if s := Sentence(f); s == "" || strings.Contains(s, "%!") {
				t.Errorf("row %d: %s: %q", i, f.Check, s)
			}
		}
		for _, f := range r.Findings(i) {
			if f.Check != "check_execution_error" && f.Fired != per[f.Check] {
				t.Errorf("row %d: %s says it fired %d times", i, f.Check, f.Fired)
			}
		}
		for id := range seen {
			touched[id]++
		}
		for _, u := range r.Unobserved(i) {
			missing[u.Check]++
			if u.Reason == "" || u.Text == "" || (u.Reason == "gap") != (u.Gap != "") {
				t.Errorf("row %d: %+v", i, u)
			}
		}
		if len(seen) != r.Fired(i).Len() || len(r.Unobserved(i)) != r.Missing(i).Len() || (r.Fired(i) != 0) != (r.Verdict(i) == Unhealthy) {
			t.Errorf("row %d: sets and lists differ", i)
		}
		if task := r.Task(r.TaskOf(i)); task.First > i || task.Key != rows[i].identity.Task {
			t.Errorf("row %d: task %+v", i, task)
		}
		if r.ID(i) != rows[i].identity.ID {
			t.Errorf("row %d: id %q", i, r.ID(i))
		}
	}
	if verdicts[Healthy] != stats.Healthy || verdicts[Unhealthy] != stats.Unhealthy || verdicts[Unobserved] != stats.Unobserved || verdicts[Skipped] != stats.Skipped ||
		stats.Records+stats.Skipped != len(rows) {
		t.Errorf("%v, %+v", verdicts, stats)
	}
	for _, c := range checks {
		n, reasons := stats.Records, 0
		if c.Check.Scope == check.Task {
			n = r.TaskCount()
		} else if c.Fired != fired[c.Check.ID] || c.Rollouts != touched[c.Check.ID] || c.Unobserved != missing[c.Check.ID] || c.Tasks > c.Rollouts {
			t.Errorf("%+v", c)
		}
		for k, reason := range c.Reasons {
			reasons += reason.Count
			if k > 0 && reason.Count > c.Reasons[k-1].Count {
				t.Errorf("%s: reasons are not sorted", c.Check.ID)
			}
		}
		if c.Evaluated+c.Unobserved+c.Ignored != n || reasons != c.Unobserved {
			t.Errorf("%+v of %d", c, n)
		}
	}
	repeats := 0
	for i, task := range r.Tasks() {
		repeats += task.Repeats
		if task.Healthy+task.Unhealthy+task.Unobserved != task.Repeats || task.Flags == nil || r.TaskOf(task.First) != i {
			t.Errorf("%+v", task)
		}
	}
	if repeats > stats.Records {
		t.Errorf("%d repeats of %d rows", repeats, stats.Records)
	}
}

const (
	overflowCall = `{"model_call_id":"o","response_metadata":{"upstream_attempted":true,"upstream_status_code":400,"status_code":400,"error_category":"context_length_exceeded","finish_reason":"length"}}`
	fineCall     = `{"model_call_id":"c","response":{"output_text":"x"},"response_metadata":{"status_code":200},"token_stats":{"prompt_tokens":3,"completion_tokens":2}}`
)

func trajectoryRow(usage, refs, owned, calls, gaps string) string {
	return `{"_ng_task_index":0,"response":{"usage":` + usage + `},"ng_trajectory":{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"i","model_calls":[` + owned +
		`]}],"turns":[{"invocation_id":"i","task_id":"t","rollout_id":"r","turn_no":1,"timestamp":1,"answer":"x","step_count":1,"model_calls":[` + refs +
		`]}],"model_calls":[` + calls + `],"gaps":[` + gaps + `]}}`
}

// TestProfileMain holds the two deltas of profile main in whole reports.
func TestProfileMain(t *testing.T) {
	const usage = `{"input_tokens":3,"output_tokens":2}`
	c, o := `{"model_call_id":"c"}`, `{"model_call_id":"o"}`
	for _, k := range []struct{ name, row, old, main string }{
		{"nothing differs", trajectoryRow(usage, c, "", fineCall, ""), "", ""},
		{"overflow", trajectoryRow(usage, c+","+o, "", fineCall+","+overflowCall, ""),
			"model_call_missing_token_counts model_call_failed ? rollout_token_count_mismatch model_call_runaway_generation",
			"model_call_failed ? rollout_token_count_mismatch"},
		{"overflow only", trajectoryRow(usage, o, "", overflowCall, ""),
			"rollout_ended_on_failed_model_call model_call_missing_token_counts model_call_failed ? rollout_token_count_mismatch model_call_runaway_generation",
			"rollout_ended_on_failed_model_call model_call_failed ? rollout_token_count_mismatch"},
		{"owned view is larger", trajectoryRow(usage, "", c, fineCall, ""), "? rollout_token_count_mismatch", ""},
		{"owned view differs", trajectoryRow(usage, c, o, fineCall+","+strings.Replace(fineCall, `"c"`, `"o"`, 1), ""), "", "rollout_token_count_mismatch"},
		{"scope gap", trajectoryRow(usage, c, o, fineCall, `{"code":"turn_model_call_scope_incomplete"}`), "trajectory_capture_mismatch ? rollout_token_count_mismatch", "trajectory_capture_mismatch ? rollout_token_count_mismatch"},
	} {
		for profile, want := range map[string]string{"": k.old, "0.7": k.old, "main": k.main} {
			r := judge(t, k.row, Options{Profile: profile})
			have := r.Fired(0).IDs()
			if r.Missing(0) != 0 {
				have = append(append(have, "?"), r.Missing(0).IDs()...)
			}
			if strings.Join(have, " ") != want {
				t.Errorf("%s, profile %q: %s\nwant %s", k.name, profile, have, want)
			}
			if s := r.Stats(); k.name == "overflow" && (s.Errors != 1 || s.ByStatus[0].Status != "400" || s.Captures != 1 || s.ErrorRollouts != 1) {
				t.Errorf("%s: the call must stay in the statistics: %+v", k.name, s)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	data := "{}\n{}\n[]\n" + `{"ng_trajectory":1}` + "\n" + trajectoryRow(`{}`, "", "", "", `{"code":"model_calls_unavailable"},{"code":"turns_unavailable"}`)
	r := judge(t, data, Options{})
	c := r.Checks()[check.CallFailed]
	want := `[{no_trajectory  the row has no trajectory 2} {line_unreadable  the line cannot be read 1} {trajectory_unreadable  the trajectory breaks its schema 1} {gap model_calls_unavailable model calls were not observed 1}]`
	if have := fmt.Sprint(c.Reasons); have != want {
		t.Errorf("%s\nwant %s", have, want)
	}
	if u := r.Unobserved(4); len(u) != 9 || u[0] != (Unjudged{"rollout_missing_agent_turns", "gap", "turns_unavailable", "turns were not observed"}) ||
		u[1] != (Unjudged{"rollout_ended_on_failed_model_call", "gap", "model_calls_unavailable", "model calls were not observed"}) {
		t.Errorf("%+v", u)
	}
	if task := r.Task(0); len(task.Unjudged) != 2 || task.Unjudged[0].Reason != "few_repeats" || task.Unjudged[1].Reason != "repeats_incomplete" {
		t.Errorf("%+v", task)
	}
}

// TestTasks holds repeats over several rows and stages, and both flags.
func TestTasks(t *testing.T) {
	bad := `{"model_call_id":"c","response":{"output_text":"x"},"response_metadata":{"status_code":500},"token_stats":{"prompt_tokens":3,"completion_tokens":2}}`
	ref := `{"model_call_id":"c"}`
	at := func(task, rollout int, stage, call string) string {
		row := trajectoryRow(`{"input_tokens":3,"output_tokens":2}`, ref, "", call, "")
		return strings.Replace(row, `"_ng_task_index":0`, fmt.Sprintf(`"_ng_task_index":%d,"_ng_rollout_index":%d,"stage_index":%s`, task, rollout, stage), 1) + "\n"
	}
	data := at(0, 0, "0", bad) + at(0, 1, "0", bad) + // both flags
		at(1, 0, "0", bad) + at(1, 0, "1", fineCall) + at(1, 1, "0", bad) + // a repeat of two minds
		at(2, 0, "0", bad) + at(2, 0, "1", bad) + at(2, 1, "0", fineCall) +
		at(3, 0, "0", bad) + `{"_ng_task_index":3,"_ng_rollout_index":1}` + "\n"
	r := judge(t, data, Options{})
	var have []string
	for _, task := range r.Tasks() {
		have = append(have, fmt.Sprint(task.Key, task.Healthy, task.Unhealthy, task.Unobserved, task.Flags))
	}
	want := "0 0 2 0 [task_consistently_unhealthy task_no_successful_model_calls]; 1 0 1 1 []; 2 1 1 0 []; 3 0 1 1 []"
	if s := strings.Join(have, "; "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	if c := r.Checks()[12]; c.Fired != 1 || c.Tasks != 1 || c.Rollouts != 2 || c.Evaluated != 2 || c.Unobserved != 2 {
		t.Errorf("%+v", c)
	}
	if c := r.Checks()[13]; c.Fired != 1 || c.Evaluated != 3 || c.Unobserved != 1 {
		t.Errorf("%+v", c)
	}
	r = judge(t, data, Options{Ignored: []string{"task_consistently_unhealthy"}})
	if c := r.Checks()[12]; c.Ignored != 4 || c.Fired != 0 || len(r.Task(0).Flags) != 1 {
		t.Errorf("%+v", c)
	}
}

// TestIntegerRange holds what happens to numbers that no report can write.
func TestIntegerRange(t *testing.T) {
	const most = "18446744073709551615"
	usage := func(n string) string {
		return `{"response":{"usage":{"input_tokens":` + n + `,"output_tokens":1}}}` + "\n"
	}
	r := judge(t, usage(most), Options{})
	if s := summaryOf(t, r); !strings.Contains(s, `"prompt": `+most) {
		t.Error(s)
	}
	r, err := reduce(mapFiles(file{"f", []byte(usage(most) + usage("1"))}), Options{})
	if !errors.Is(err, ErrIntegerRange) || r == nil {
		t.Fatal(err)
	}
	if _, err := r.SummaryJSON(); !errors.Is(err, ErrIntegerRange) {
		t.Error(err)
	}
	if s := r.Stats(); s.Prompt.String() != "18446744073709551616" || !strings.Contains(string(r.SummaryCompact()), `"prompt":18446744073709551616,`) {
		t.Error(s.Prompt)
	}
	// A finding that cannot be written stops the verdicts there and leaves the summary.
	call := `{"model_call_id":"c","response_metadata":{"status_code":"99999999999999999999"},"token_stats":{"prompt_tokens":1,"completion_tokens":1}}`
	bad := strings.Replace(trajectoryRow(`{}`, `{"model_call_id":"c"}`, "", call, ""), `"_ng_task_index":0`, `"_ng_task_index":5`, 1)
	r = judge(t, `{"_ng_task_index":7}`+"\n"+bad+"\n"+`{"_ng_task_index":1}`, Options{})
	if s := summaryOf(t, r); !strings.Contains(s, `"99999999999999999999": 1`) {
		t.Error(s)
	}
	var b bytes.Buffer
	if err := r.WriteVerdicts(&b); !errors.Is(err, ErrIntegerRange) || !strings.HasPrefix(err.Error(), "rollouts.jsonl:2: ") || b.String() != bare("1", "0", `"1-0"`, "") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestStatuses(t *testing.T) {
	var calls []string
	for i, metadata := range []string{`"status_code":404`, `"status_code":"1000"`, `"status_code":404`, `"error_category":"x"`, `"status_code":-5,"response_status":"failed"`,
		`"status_code":200,"error_category":" "`, `"status_code":399`, ``} {
		calls = append(calls, fmt.Sprintf(`{"model_call_id":"%d","response_metadata":{%s}}`, i, metadata))
	}
	row := trajectoryRow("{}", "", "", strings.Join(calls, ","), "")
	r := judge(t, row+"\n"+row, Options{})
	if have, want := fmt.Sprint(r.Stats().ByStatus), "[{-5 2} {1000 2} {200 2} {404 4} {unknown 2}]"; have != want {
		t.Errorf("%s\nwant %s", have, want)
	}
	if s := r.Stats(); s.Errors != 12 || s.ErrorRollouts != 2 {
		t.Errorf("%+v", s)
	}
}

func TestWriteFails(t *testing.T) {
	r := judge(t, "{}", Options{})
	if err := r.WriteVerdicts(failing{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestOrderOfRows(t *testing.T) {
	rows := mapFiles(file{"f", []byte("{}\n{}")})
	rows[1].ordinal = 5
	if _, err := reduce(rows, Options{}); !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
}
