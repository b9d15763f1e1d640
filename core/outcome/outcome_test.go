package outcome

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/value"
)

func span(t *testing.T, text string) jsonscan.Value {
	t.Helper()
	v, err := new(jsonscan.Scanner).Scan([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestVocabulary(t *testing.T) {
	if len(kinds) != 24 {
		t.Errorf("%d registered kinds", len(kinds))
	}
	for class, want := range map[string]Vocabulary{
		"judge_failed": Registered, "protocol_violation": Registered, "kill_shaped": Registered,
		"site:disk_full": Namespaced, "a:b": Namespaced, "a1_:b_2": Namespaced,
		"judge_failed\n": Unregistered, "transient": Unregistered, "": Unregistered, "Site:disk": Unregistered, "site:": Unregistered, ":x": Unregistered,
		"a:b:c": Unregistered, "1a:b": Unregistered, "_a:b": Unregistered, "a:b\n": Unregistered, "skipped": Unregistered,
	} {
		if got := VocabularyOf(class); got != want {
			t.Errorf("%q: %s", class, got)
		}
	}
	for class, want := range map[string]string{"judge_failed": "judge", "site:disk_full": "site", "transient": "transient", "_x": ""} {
		if got := Domain(class); got != want {
			t.Errorf("%q: %q", class, got)
		}
	}
	for _, l := range Labels {
		if l.Class == "" || l.Text == "" || l.Terminal == "" || l.Since == "" {
			t.Errorf("label %+v", l)
		}
	}
}

func TestTerminalAndBudget(t *testing.T) {
	for _, test := range []struct {
		class           string
		flag            bool
		terminal, over  bool
		spends, spendso bool // always; in addition under the override
	}{
		{"transient", false, false, false, true, false},
		{"permanent", true, true, true, false, false},
		{"timeout_exceeded", true, true, false, false, true},
		{"timeout_exceeded", false, false, false, true, false},
		{"reference_missing", true, true, false, false, true},
		{"eval_missing", true, true, false, false, true},
		{"transport_ineligible", true, true, false, false, true},
		{"skipped", false, false, true, true, false},
		{"skipped", true, true, true, false, false},
		{"", false, false, false, true, false},
	} {
		if got := Terminal(test.class, test.flag, false); got != test.terminal {
			t.Errorf("%q %v: terminal %v", test.class, test.flag, got)
		}
		if got := Terminal(test.class, test.flag, true); got != test.over {
			t.Errorf("%q %v: terminal with override %v", test.class, test.flag, got)
		}
		if a, b := Spends(test.class, test.flag, PossiblyDelivered); a != test.spends || b != test.spendso {
			t.Errorf("%q %v: spends %v, %v", test.class, test.flag, a, b)
		}
		if a, b := Spends(test.class, test.flag, NotSent); a || b {
			t.Errorf("%q: an unsent request spends", test.class)
		}
	}
}

func TestMeasurement(t *testing.T) {
	for _, test := range []struct {
		row  string
		want Measurement
	}{
		{`{}`, Unscored}, {`{"reward":null}`, Unscored}, {`{"reward":true}`, Unscored}, {`{"reward":"1"}`, Unscored}, {`{"mask_sample":true}`, Unscored},
		{`{"reward":0}`, Measured}, {`{"reward":-1.5,"mask_sample":0}`, Measured},
		{`{"reward":1,"mask_sample":true}`, Masked}, {`{"reward":1,"mask_sample":"false"}`, Masked},
	} {
		row := span(t, test.row)
		kind := row.Get("reward").Kind()
		if got := MeasurementOf(kind == jsonscan.Int || kind == jsonscan.Float, row.Get("mask_sample").Truthy()); got != test.want {
			t.Errorf("%s: %s", test.row, got)
		}
	}
}

// record makes the text of a structured failure of which some members are replaced; an empty text drops one.
func record(t *testing.T, change ...string) value.Value {
	t.Helper()
	v, err := value.Strict([]byte(`{"schema_version":1,"episode_id":{"rollout_id":"1-0","attempt":0},"run_id":"r","source":"collector","delivery":"possibly_delivered",` +
		`"failure":{"failure_reason":"no reply","terminal":false},"http_status":null,"exception_type":null}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(change); i += 2 {
		v = set(t, v, strings.Split(change[i], "."), change[i+1])
	}
	return v
}

func set(t *testing.T, v value.Value, path []string, text string) value.Value {
	if len(path) > 1 {
		return v.With(path[0], set(t, v.Get(path[0]), path[1:], text))
	}
	if text == "" {
		return v.Without(path[0])
	}
	member, err := value.Strict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.With(path[0], member)
}

func TestRecord(t *testing.T) {
	one := func(path, kind string) []schema.Fault { return []schema.Fault{{Path: path, Type: kind}} }
	for _, test := range []struct {
		change []string
		faults []schema.Fault
	}{
		{nil, nil},
		{[]string{"schema_version", `1.0`, "episode_id.attempt", `"2"`, "http_status", `"429"`}, nil},
		{[]string{"schema_version", `true`}, nil},
		{[]string{"schema_version", ``, "episode_id.attempt", ``, "http_status", ``, "exception_type", ``}, nil},
		{[]string{"failure.failure_kind", `"judge_failed\n"`, "failure.stage", `"verification"`, "failure.terminal", `"YES"`, "exception_type", `"E"`, "http_status", `599`}, nil},
		{[]string{"failure.failure_kind", `null`, "failure.stage", `null`}, nil},
		{[]string{"failure.failure_reason", `"` + strings.Repeat("😀", 2000) + `"`}, nil},
		{[]string{"source", `"environment"`, "delivery", `"delivered"`}, nil},
		{[]string{"schema_version", `"1"`}, one("schema_version", schema.Literal)},
		{[]string{"schema_version", `2`}, one("schema_version", schema.Literal)},
		{[]string{"schema_version", `null`}, one("schema_version", schema.Literal)},
		{[]string{"episode_id", ``}, one("episode_id", schema.Missing)},
		{[]string{"episode_id", `null`}, one("episode_id", schema.ModelType)},
		{[]string{"episode_id.rollout_id", ``}, one("episode_id.rollout_id", schema.Missing)},
		{[]string{"episode_id.rollout_id", `3`}, one("episode_id.rollout_id", schema.TextType)},
		{[]string{"episode_id.rollout_id", `""`}, one("episode_id.rollout_id", schema.TextTooShort)},
		{[]string{"episode_id.rollout_id", `"a b"`}, one("episode_id.rollout_id", schema.Pattern)},
		{[]string{"episode_id.rollout_id", `"1-0\n"`}, one("episode_id.rollout_id", schema.Pattern)},
		{[]string{"episode_id.rollout_id", `"1-a2"`}, one("episode_id.rollout_id", schema.ValueError)},
		{[]string{"episode_id.attempt", `-1`}, one("episode_id.attempt", schema.TooSmall)},
		{[]string{"episode_id.attempt", `1.5`}, one("episode_id.attempt", schema.IntFromFloat)},
		{[]string{"episode_id.attempt", `null`}, one("episode_id.attempt", schema.IntType)},
		{[]string{"episode_id.attempt", `1e300`}, one("episode_id.attempt", schema.IntParsingSize)},
		{[]string{"episode_id.extra", `1`}, one("episode_id.extra", schema.ExtraForbidden)},
		{[]string{"run_id", `""`}, one("run_id", schema.TextTooShort)},
		{[]string{"source", `"agent"`}, one("source", schema.Literal)},
		{[]string{"delivery", `null`}, one("delivery", schema.Literal)},
		{[]string{"failure", `[]`}, one("failure", schema.ModelType)},
		{[]string{"failure.failure_reason", `"` + strings.Repeat("x", 2001) + `"`}, one("failure.failure_reason", schema.TextTooLong)},
		{[]string{"failure.failure_reason", `null`}, one("failure.failure_reason", schema.TextType)},
		{[]string{"failure.terminal", `2`}, one("failure.terminal", schema.BoolParsing)},
		{[]string{"failure.terminal", `null`}, one("failure.terminal", schema.BoolType)},
		{[]string{"failure.failure_kind", `1`}, one("failure.failure_kind", schema.TextType)},
		{[]string{"failure.stage", `"start"`}, one("failure.stage", schema.Literal)},
		{[]string{"http_status", `true`}, one("http_status", schema.TooSmall)},
		{[]string{"http_status", `600`}, one("http_status", schema.TooLarge)},
		{[]string{"http_status", `"5e2"`}, one("http_status", schema.IntParsing)},
		{[]string{"exception_type", `5`}, one("exception_type", schema.TextType)},
		{[]string{"source", `"environment"`}, one("", schema.ValueError)},
		// The rule across fields is not looked at while a field is wrong.
		{[]string{"source", `"environment"`, "extra", `1`}, one("extra", schema.ExtraForbidden)},
		{[]string{"failure.terminal", ``, "failure.stage", `"start"`, "extra", `1`},
			[]schema.Fault{{Path: "failure.terminal", Type: schema.Missing}, {Path: "failure.stage", Type: schema.Literal}, {Path: "extra", Type: schema.ExtraForbidden}}},
	} {
		r, faults := ReadRecord(record(t, test.change...))
		if !reflect.DeepEqual(faults, test.faults) || (r == nil) != (faults != nil) {
			t.Errorf("%q: %v, want %v", fmt.Sprintf("%.60v", test.change), faults, test.faults)
		}
	}
	for _, v := range []value.Value{value.Null, value.Int(1), value.List()} {
		if _, faults := ReadRecord(v); !reflect.DeepEqual(faults, one("", schema.ModelType)) {
			t.Errorf("%s: %v", v, faults)
		}
	}
	r, _ := ReadRecord(record(t, "episode_id.attempt", `" 02 "`, "failure.failure_kind", `""`))
	if r.Attempt.String() != "2" || r.Class() != "agent_request_failed" {
		t.Errorf("%+v", r)
	}
	r, _ = ReadRecord(record(t, "source", `"environment"`, "delivery", `"delivered"`))
	if r.Class() != "environment_server_failed" {
		t.Errorf("%+v", r)
	}
	r, _ = ReadRecord(record(t, "failure.failure_kind", `"judge_failed\n"`))
	if r.Class() != "judge_failed\n" {
		t.Errorf("%+v", r)
	}
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"3-0": true, "eval.7": true, "a": true, "0": true, "True-0": true, "2.0-0": true, "x-a0": true, "x-a01": true, "x-a1-": true, "xa1": true, "a1": true, "-a1": false,
		"x-a1": false, "x-a27": false, "9-a3": false, "x-a10": false, "": false, "a b": false, "-1-0": false, ".x": false, "_x": false, "x\n": false, "é": false, "1e+16-0": false,
		"x-A1": true, "x_a1": true, "1-a1.": true,
	} {
		if ValidID(id) != want || ValidID([]byte(id)) != want {
			t.Errorf("%q: %v", id, !want)
		}
		if !idShape.MatchString(id) == ValidID(id) && want {
			t.Errorf("%q: the two forms of the rule differ", id)
		}
	}
}

func FuzzValidID(f *testing.F) {
	f.Add("3-0")
	f.Add("x-a27")
	f.Fuzz(func(t *testing.T, id string) {
		if want := idShape.MatchString(id) && !reserved.MatchString(id); ValidID(id) != want {
			t.Fatalf("%q: %v", id, !want)
		}
	})
}

func TestSeconds(t *testing.T) {
	for _, test := range []struct {
		text string
		want float64
		ok   bool
	}{
		{`1`, 1, true}, {`0.5`, 0.5, true}, {`true`, 1, true}, {`"5.5"`, 5.5, true}, {`"inf"`, math.Inf(1), true}, {`" 1_0.5e0 "`, 10.5, true}, {`"+Infinity"`, math.Inf(1), true},
		{`"1."`, 1, true}, {`".5"`, 0.5, true}, {`"1e1_0"`, 1e10, true}, {`"1e400"`, math.Inf(1), true}, {`"\u0661\u0662"`, 12, true}, {`"\ud835\udfd9"`, 1, true}, {`"\u2003 7\u001c"`, 7, true}, {`"7\n"`, 7, true},
		{`0`, 0, false}, {`-1`, 0, false}, {`false`, 0, false}, {`null`, 0, false}, {`[]`, 0, false}, {`{}`, 0, false}, {`"x"`, 0, false}, {`""`, 0, false}, {`"nan"`, 0, false}, {`"-inf"`, 0, false},
		{`"1__0"`, 0, false}, {`"_1"`, 0, false}, {`"1_"`, 0, false}, {`"1_.5"`, 0, false}, {`"1._5"`, 0, false}, {`"0x10"`, 0, false}, {`"1e"`, 0, false}, {`"1 0"`, 0, false}, {`"++1"`, 0, false}, {`"infinit"`, 0, false}, {`"i_nf"`, 0, false}, {`"1p3"`, 0, false}, {`"²"`, 0, false},
	} {
		got, ok := Seconds(span(t, test.text))
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %v, %v", test.text, got, ok)
		}
	}
	if _, ok := Seconds(jsonscan.Value{}); ok {
		t.Error("an absent value has seconds")
	}
}

func TestElapsed(t *testing.T) {
	for _, test := range []struct {
		row   string
		want  float64
		crash string
	}{
		{`{"elapsed_seconds":0,"response":{"metadata":{"elapsed_seconds":"7"}}}`, 7, ""},
		{`{"elapsed_seconds":"x","response":{"metadata":{"elapsed_seconds":7}}}`, 7, ""},
		{`{"elapsed_seconds":3,"response":{"metadata":{"elapsed_seconds":7}}}`, 3, ""},
		{`{"elapsed_seconds":true}`, 1, ""}, {`{"elapsed_seconds":-1}`, 0, ""}, {`{"response":null}`, 0, ""}, {`{"response":[]}`, 0, ""}, {`{"response":{"metadata":""}}`, 0, ""},
		{`{"elapsed_seconds":5,"response":[1]}`, 0, "response"}, {`{"response":"text"}`, 0, "response"}, {`{"response":{"metadata":[0]}}`, 0, "response.metadata"},
		{`{"elapsed_seconds":5,"response":{"metadata":1}}`, 0, "response.metadata"},
	} {
		row := span(t, test.row)
		if got, crash := Elapsed(row.Get("elapsed_seconds"), row.Get("response")); got != test.want || crash != test.crash {
			t.Errorf("%s: %v %q", test.row, got, crash)
		}
	}
}

func TestOdd(t *testing.T) {
	for row, want := range map[string]bool{
		`{"response":{},"reward":1}`: false, `{"response":{},"reward":0.0}`: false, `{"response":{},"execute_only":true}`: false,
		`{"response":{},"execute_only":true,"reward":1}`: false, `{"_ng_task_id":{}}`: false, `{"_ng_task_id":{},"reward":2,"response":[]}`: false,
		`{"response":{}}`: true, `{"response":{},"execute_only":1}`: true, `{"response":{},"execute_only":true,"reward":null}`: true, `{"response":{},"reward":true}`: true,
		`{"response":{},"reward":"1"}`: true, `{"response":[],"reward":1}`: true, `{"reward":1}`: true, `{"_ng_task_id":{},"reward":null}`: true, `{"_ng_task_id":"x","reward":1}`: true, `{}`: true,
	} {
		r := span(t, row)
		if got := Odd(r.Get("response"), r.Get("reward"), r.Get("execute_only"), r.Get("_ng_task_id")); got != want {
			t.Errorf("%s: %v", row, got)
		}
	}
}

func TestReason(t *testing.T) {
	for row, want := range map[string]string{
		`{"_ng_failure_record":{"failure":{"failure_reason":"a"}},"_ng_failure_message":"b"}`: "a",
		`{"_ng_failure_record":{"failure":{"failure_reason":""}},"_ng_failure_message":"b"}`:  "b",
		`{"_ng_failure_message":"","error":"c","error_message":"d"}`:                          "c",
		`{"_ng_failure_message":5,"error":null,"error_message":"d"}`:                          "d",
		`{}`: "",
	} {
		r := span(t, row)
		if got := Reason(r.Get("_ng_failure_record"), r.Get("_ng_failure_message"), r.Get("error"), r.Get("error_message")); got != want {
			t.Errorf("%s: %q", row, got)
		}
	}
}

func TestEvidence(t *testing.T) {
	for _, test := range []struct {
		omitted, unrouted, drained bool
		class                      string
		want                       Evidence
	}{
		{false, true, true, "cancelled", NoEvidence}, {true, true, true, "cancelled", Unrouted}, {true, false, true, "x", NeverStarted},
		{true, false, false, "cancelled", NeverStarted}, {true, false, false, "kill_shaped", Interrupted}, {true, false, false, "", Interrupted},
	} {
		if got := EvidenceOf(test.omitted, test.unrouted, test.drained, test.class); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestMigrated(t *testing.T) {
	const result = `{"_ng_task_index":0,"reward":0.0,"invalid_judge_response":true}`
	failure := func(more string) string {
		return `{"reward":0,"_ng_task_index":0,"invalid_judge_response":1,"_ng_failure_class":"judge_invalid"` + more + `}`
	}
	for _, test := range []struct {
		result, failure string
		want            bool
	}{
		{result, failure(`,"_ng_migrated_invalid_judge_response":true`), true},
		{result, failure(`,"_ng_migrated_invalid_judge_response":true,"reuse_cached_deliverable":true`), true},
		{result, failure(`,"_ng_migrated_invalid_judge_response":1`), false},
		{result, failure(`,"_ng_migrated_invalid_judge_response":true,"_ng_failure_terminal":false`), false},
		{result, failure(`,"_ng_migrated_invalid_judge_response":true,"more":1`), false},
		{result, `{"_ng_failure_class":"permanent","_ng_migrated_invalid_judge_response":true,"reward":0,"_ng_task_index":0,"invalid_judge_response":1}`, false},
		{`{"_ng_task_index":0,"reward":0.0,"invalid_judge_response":0}`, failure(`,"_ng_migrated_invalid_judge_response":true`), false},
		{`{"_ng_task_index":0,"reward":0.0,"invalid_judge_response":true,"_ng_failure_class":"x"}`, failure(`,"_ng_migrated_invalid_judge_response":true`), false},
		{`{"_ng_task_index":0,"reward":0.0,"invalid_judge_response":true,"_ng_failure_class":null}`, failure(`,"_ng_migrated_invalid_judge_response":true`), true},
	} {
		if got := Migrated(value.Of(span(t, test.result)), value.Of(span(t, test.failure))); got != test.want {
			t.Errorf("%s and %s: %v", test.result, test.failure, got)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"episode_id":{"rollout_id":"1-0","attempt":0},"run_id":"r","source":"collector","delivery":"possibly_delivered","failure":{"failure_reason":"no reply","terminal":false},"http_status":null,"exception_type":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := value.Strict(text)
		if err != nil {
			return
		}
		if r, faults := ReadRecord(v); (r == nil) == (len(faults) == 0) {
			t.Fatal("neither a record nor faults, or both")
		}
	})
}
