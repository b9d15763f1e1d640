package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

func aggregateOf(t *testing.T, rows string) *Aggregate {
	t.Helper()
	a, err := mustRun(t, rows, false).Aggregate()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func allRowsOf(t *testing.T, rows string) *Entry {
	t.Helper()
	e, err := mustRun(t, rows, false).AllRows()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// absent makes sure that no metric has one of the names.
func absent(t *testing.T, have []Metric, names ...string) {
	t.Helper()
	for _, name := range names {
		if n, ok := Find(have, name); ok {
			t.Errorf("%s = %s should not be there", name, n)
		}
	}
}

// rows writes rows of one agent; every text is "task rollout members".
func rows(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		f := strings.SplitN(line, " ", 3)
		fmt.Fprintf(&b, `{"_ng_task_index":%s,"_ng_rollout_index":%s,"agent_ref":{"name":"a"}`, f[0], f[1])
		if len(f) > 2 {
			b.WriteString("," + f[2])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// TestWorkedExample is the example of spec metrics §8.
func TestWorkedExample(t *testing.T) {
	e := aggregateOf(t, rows(
		`0 0 "reward":1.0,"n":3,"response":{"usage":{"input_tokens":10,"output_tokens":4}}`,
		`0 1 "reward":0.0,"n":5,"response":{"usage":{"input_tokens":12,"output_tokens":6}}`,
		`1 0 "reward":1.0,"n":4`, `1 1 "reward":1.0,"ok":true`,
	)).Entries[0]
	checkMetrics(t, e.Metrics(), map[string]float64{
		"mean/reward": 0.75, "std/reward": 0.5, "std/n": 1, "num_repeats": 2,
		"mean_across_repeats/mean/reward": 0.75, "se_across_repeats/mean/reward": 0.25,
		"ci_low_95_across_repeats/mean/reward": -2.4265511840436735, "ci_high_95_across_repeats/mean/reward": 3.9265511840436735,
		"mean_across_repeats/mean/ok": 1, "std_across_repeats/mean/ok": 0, "se_across_repeats/mean/ok": 0,
	})
	absent(t, e.Metrics(), "std/ok", "ci_low_95_across_repeats/mean/ok", "coverage/measured_rollouts")
	first, second := e.Group(0).Stats.Metrics(), e.Group(1).Stats.Metrics()
	checkMetrics(t, first, map[string]float64{
		"mean/reward": 0.5, "std/reward": 0.7071067811865476, "mean/n": 4, "std/n": 1.4142135623730951, "mean/input_tokens": 11,
	})
	checkMetrics(t, second, map[string]float64{"mean/n": 4, "mean/ok": 1, "std/reward": 0})
	absent(t, second, "std/n", "std/ok", "mean/input_tokens", "max/output_tokens")
	repeat := e.Repeats[0].Metrics()
	checkMetrics(t, repeat, map[string]float64{
		"mean/reward": 1, "ci_low_95/reward": 1, "ci_high_95/reward": 1, "mean/n": 3.5, "p25/n": 3.25, "p75/n": 3.75,
		"ci_low_95/n": -2.853102368087347, "ci_high_95/n": 9.853102368087347, "sample_count": 2, "missing_count": 0,
	})
	absent(t, repeat, "mean/ok")
	if e.Server != "a_environment_server" || !e.Stand || e.Label != "a" {
		t.Errorf("label %q, server %q", e.Label, e.Server)
	}
}

func TestSpellingOfWholeNumbers(t *testing.T) {
	for _, test := range []struct{ rows, max, min string }{
		{rows(`0 0 "reward":1`, `0 1 "reward":0`), "1", "0"},
		{rows(`0 0 "reward":true`, `0 1 "reward":false`), "1", "0"},
		{rows(`0 0 "reward":1`, `0 1 "reward":0.0`), "1.0", "0.0"},
		{rows(`0 0 "reward":1`, `0 1 "reward":0,"x":1`), "1.0", "0.0"},
		{rows(`0 0 "reward":18446744073709551615`, `0 1 "reward":18446744073709551614`), "18446744073709551615", "18446744073709551614"},
		{rows(`0 0 "reward":18446744073709551616`, `0 1 "reward":1`), "18446744073709552000.0", "1.0"},
		{rows(`0 0 "reward":-9223372036854775808`, `0 1 "reward":-9223372036854775807`), "-9223372036854775807", "-9223372036854775808"},
	} {
		m := allRowsOf(t, test.rows).Metrics()
		most, _ := Find(m, "max/reward")
		least, _ := Find(m, "min/reward")
		if test.max == "18446744073709552000.0" {
			test.max = Real(18446744073709551616).String()
		}
		if most.String() != test.max || least.String() != test.min {
			t.Errorf("%s: %s … %s, want %s … %s", test.rows, least, most, test.min, test.max)
		}
		if mean, _ := Find(m, "mean/reward"); mean.IsWhole() {
			t.Errorf("%s: mean %s", test.rows, mean)
		}
	}
}

// TestEdgeCases is the table of spec metrics §18, as far as it is about rows.
func TestEdgeCases(t *testing.T) {
	t.Run("one rollout", func(t *testing.T) {
		e := allRowsOf(t, rows(`0 0 "reward":0.5,"a":3`))
		checkMetrics(t, e.Metrics(), map[string]float64{"std/reward": 0, "std/a": 0, "num_repeats": 1})
		if n, _ := Find(e.Metrics(), "max/a"); n.String() != "3.0" || len(e.Repeats) != 0 {
			t.Errorf("max/a = %s, %d repeats", n, len(e.Repeats))
		}
	})
	t.Run("fields apart", func(t *testing.T) {
		e := allRowsOf(t, rows(`0 0 "a":1`, `0 1 "b":2`))
		checkMetrics(t, e.Metrics(), map[string]float64{"mean/a": 1, "max/b": 2, "median/b": 2, "std_across_repeats/mean/a": 0, "se_across_repeats/mean/b": 0})
		absent(t, e.Metrics(), "std/a", "std/b", "ci_low_95_across_repeats/mean/a")
		absent(t, e.Repeats[0].Metrics(), "mean/b")
		absent(t, e.Repeats[1].Metrics(), "mean/a")
	})
	t.Run("fields apart and one in common", func(t *testing.T) {
		e := allRowsOf(t, rows(`0 0 "a":1,"reward":1`, `0 1 "b":2,"reward":0`))
		checkMetrics(t, e.Metrics(), map[string]float64{"std/reward": 0.7071067811865476})
		absent(t, e.Metrics(), "std/a", "std/b")
	})
	t.Run("no numeric field", func(t *testing.T) {
		e := allRowsOf(t, rows(`0 0 "x":"1"`, `0 1 "y":null,"z":[1]`))
		if want := []Metric{{"num_repeats", Whole(2)}}; !reflect.DeepEqual(e.Metrics(), want) || len(e.KeyMetrics()) != 0 {
			t.Errorf("%v", e.Metrics())
		}
		if e.Groups() != 1 || len(e.Repeats) != 2 || len(e.Repeats[0].Columns) != 0 {
			t.Errorf("%d groups, %+v", e.Groups(), e.Repeats)
		}
	})
	t.Run("no rows", func(t *testing.T) {
		a := aggregateOf(t, "")
		if a.Results != 0 || len(a.Entries) != 0 {
			t.Errorf("%+v", a)
		}
		var b bytes.Buffer
		if err := allRowsOf(t, "").WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		const want = `{"group_level_metrics":[],"agent_metrics":{},"key_metrics":{},"perf_summary":null,"repeat_level_metrics":[]}`
		if v, err := value.Strict(b.Bytes()); err != nil || string(v.Append(nil, value.Plain)) != want {
			t.Errorf("%s, %v", b.Bytes(), err)
		}
	})
	t.Run("nobody's rows", func(t *testing.T) {
		const row = `{"_ng_task_index":0,"reward":1}` + "\n"
		a := aggregateOf(t, row)
		if a.Results != 1 || a.Nowhere != 1 || len(a.Entries) != 0 || allRowsOf(t, row).Results != 1 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("three tasks by four", func(t *testing.T) {
		var list []string
		for i := range 4 {
			list = append(list, fmt.Sprintf(`0 %d "reward":1.0`, i), fmt.Sprintf(`1 %d "reward":0.0`, i), fmt.Sprintf(`2 %d "reward":%d.0`, i, i%2))
		}
		e := allRowsOf(t, rows(list...))
		checkMetrics(t, e.Metrics(), map[string]float64{"std/reward": 0.5222329678670935})
		for i, want := range []float64{0, 0, 0.5773502691896257} {
			checkMetrics(t, e.Group(i).Stats.Metrics(), map[string]float64{"std/reward": want})
		}
	})
}

func TestRefusals(t *testing.T) {
	duplicate := rows(`0 0 "reward":1`, `0 0 "reward":0`)
	for name, text := range map[string]string{
		"twice": duplicate, "no indices": `{"agent_ref":{"name":"a"}}` + "\n" + `{"agent_ref":{"name":"a"}}`,
		"text and number": rows(`0 0 "reward":1`, `"0" 0 "reward":1`), "half": rows(`0.5 0`), "null": rows(`null 0`), "list": rows(`0 [1]`),
		"response": rows(`0 0 "response":"x"`), "usage": rows(`0 0 "response":{"usage":[1]}`), "agent": `{"agent_ref":"a"}`,
		"array": `[]`, "text": `x`, "NaN": rows(`0 0 "reward":NaN`), "overflow": rows(`0 0 "reward":1e400`),
	} {
		run, err := runOf(text, &Mapper{}, false)
		if err == nil {
			_, err = run.Aggregate()
		}
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"whole float is an index": rows(`1.0 0`, `2 true`), "all texts": rows(`"b" 0`, `"a" 0`), "falsy shapes": rows(`0 0 "response":[]`, `1 0 "response":{"usage":""}`),
	} {
		run, err := runOf(text, &Mapper{}, false)
		if err == nil {
			_, err = run.Aggregate()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// pass@k keeps repeated pairs, but every row needs a reward.
	if p, err := mustRun(t, duplicate, false).PassK(false); err != nil || p.MaxK != 2 {
		t.Errorf("repeated pairs: %+v, %v", p, err)
	}
	for _, reward := range []string{``, `,"reward":null`, `,"reward":"1"`, `,"reward":[1]`} {
		text := `{"_ng_task_index":0` + reward + "}"
		if _, err := mustRun(t, text, false).PassK(false); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", text, err)
		}
		if p, err := mustRun(t, text, true).PassK(false); err != nil || p.MaxK != 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
	run, err := runOf(rows(`0 0 "reward":1,"answer":{"x":1}`), &Mapper{Fields: []string{"answer"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.PassK(true); !errors.Is(err, ErrRefused) {
		t.Errorf("an object as an answer: %v", err)
	}
}

func TestSeveralServersOfOneAgent(t *testing.T) {
	const stamped = `{"_ng_task_index":%d,"agent_ref":{"name":"a"},"_ng_environment_server":"s%d"}` + "\n"
	text := fmt.Sprintf(stamped, 0, 1) + fmt.Sprintf(stamped, 1, 2)
	if a := aggregateOf(t, text); len(a.Entries) != 2 || a.Entries[0].Label != "s1" || a.Entries[1].Label != "s2" {
		t.Errorf("%+v", a.Entries)
	}
	bare := `{"_ng_task_index":2,"agent_ref":{"name":"a"}}`
	if _, err := mustRun(t, text+bare, false).Aggregate(); !errors.Is(err, ErrRefused) {
		t.Errorf("a row of either: %v", err)
	}
	if a := aggregateOf(t, fmt.Sprintf(stamped, 0, 1)+bare); len(a.Entries) != 1 || a.Entries[0].Server != "s1" || a.Entries[0].Results != 2 {
		t.Errorf("%+v", a.Entries)
	}
}

func TestRelay(t *testing.T) {
	for agent, want := range map[string]string{
		"math_simple_agent": "math", "pi_math_agent": "pi_math", "anyswe_pi": "anyswe_pi", "simple_agent": "simple_agent",
		"_simple_agent": "simple_agent", "agent": "agent", "_agent": "simple_agent", "x_agent_simple_agent": "x_agent", "a__agent": "a",
	} {
		if have := relay(agent); have != want+"_environment_server" {
			t.Errorf("%s: %s", agent, have)
		}
	}
}

func TestLabels(t *testing.T) {
	k := func(key, agent string) runKey { return runKey{key, agent, agent != ""} }
	for _, test := range []struct {
		keys []runKey
		want map[string]string
	}{
		{[]runKey{k("s1", "a"), k("s2", "a"), k("b", "b")}, map[string]string{"s1": "s1", "s2": "s2", "b": "b"}},
		{[]runKey{k("s1", "a"), k("a", "")}, map[string]string{"s1": "s1", "a": "a"}},
		{[]runKey{k("p", "q"), k("q", "p")}, map[string]string{"p": "q", "q": "p"}},
		{[]runKey{k("s", "a"), k("s", "b")}, map[string]string{"s": "a"}},
		{nil, map[string]string{}},
	} {
		for range 2 {
			if have := labelsOf(test.keys); !reflect.DeepEqual(have, test.want) {
				t.Errorf("%v: %v, want %v", test.keys, have, test.want)
			}
			for i, j := 0, len(test.keys)-1; i < j && test.keys[0].key != test.keys[j].key; i, j = i+1, j-1 {
				test.keys[i], test.keys[j] = test.keys[j], test.keys[i]
			}
		}
	}
}

func TestPrimary(t *testing.T) {
	for name, want := range map[string]bool{
		"mean/reward": true, "mean/x/p5": false, "pass@1[avg-of-4]/accuracy": true, "p5/x": true, "coverage/masked_rollouts": true,
		"foo/std": true, "foo/mean": true, "mean/token_usage_version": true, "foo/median": false, "foo_ci_lower": false,
		"token_usage_version": false, "num_repeats": false, "max/x": false, "mean_across_repeats/mean/x": false, "x/avg_sample_std_dev": false,
	} {
		if Primary(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// TestPerf is the example of spec metrics §11.
func TestPerf(t *testing.T) {
	e := allRowsOf(t, rows(
		`0 0 "ng_perf":{"prompt_tokens":10,"completion_tokens":4,"num_turns":2,"total_latency_ms":100.0,"token_observability_coverage":1.0}`,
		`0 1 "ng_perf":{"prompt_tokens":13,"completion_tokens":9,"num_turns":3,"total_latency_ms":250.5,"token_observability_coverage":0.0}`,
		`0 2 "ng_perf":{"num_turns":0,"completion_tokens":7,"prompt_tokens":null}`, `0 3`, `0 4 "ng_perf":"x"`,
	))
	m := e.Perf.Metrics()
	checkMetrics(t, m, map[string]float64{
		"overall_observability_coverage": 0.6, "token_observability_coverage": 0.2, "mean_prompt_tokens": 11.5,
		"mean_num_turns": 1.6666666666666667, "std_num_turns": 1.247219128924647, "p90_num_turns": 2.8, "mean_tokens_per_turn": 2.5,
		"total_latency_p90_ms": 235.45, "total_latency_p99_ms": 248.995,
	})
	for name, want := range map[string]string{"total_prompt_tokens": "23", "median_completion_tokens": "7", "max_num_turns": "3", "median_prompt_tokens": "11.5"} {
		if n, _ := Find(m, name); n.String() != want {
			t.Errorf("%s = %s, want %s", name, n, want)
		}
	}
	absent(t, m, "mean_cached_prompt_tokens", "mean_reasoning_tokens")
	if allRowsOf(t, rows(`0 0`)).Perf != nil {
		t.Error("a summary of nothing")
	}
}

// TestInfo shows what of usage and row a rollout info holds, and which one wins.
func TestInfo(t *testing.T) {
	run := mustRun(t, `{"_ng_task_index":3,"_ng_rollout_index":1,"n":1,"_x":2,"t":null,"ok":true,"reward":null,"s":"x","u":5,"u":6,"agent_ref":{"name":"a"},"response":{"usage":{"n":9,"t":7,"_y":8,"reward":4,"z":"q"}}}`, false)
	var b bytes.Buffer
	j := jsonWriter{w: &b}
	j.info(run, 0, Current)
	j.flush()
	const want = `{"rollout_id":"3:1","_ng_task_index":3,"_ng_rollout_index":1,"reward":4,"n":1,"t":7,"_y":8,"ok":1,"u":6}`
	if b.String() != want {
		t.Errorf("have %s\nwant %s", b.String(), want)
	}
	var cells []string
	run.Cells(0, func(name string, n Number) { cells = append(cells, name+"="+n.String()) })
	if have, want := strings.Join(cells, " "), "n=9 _x=2 t=7 ok=1 reward=4 u=6 _y=8"; !strings.HasPrefix(have, "_ng_task_index=3 _ng_rollout_index=1 "+want) {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

func TestZeros(t *testing.T) {
	const results = `{"_ng_task_index":0,"_ng_rollout_index":0,"reward":1.0,"weight":2,"agent_ref":{"name":"a"}}` + "\n"
	const failures = `{"_ng_task_index":0,"_ng_rollout_index":1,"_ng_failure_class":"agent_run_error","agent_ref":{"name":"a"}}
{"_ng_task_index":0,"_ng_rollout_index":1,"_ng_failure_class":"transient","agent_ref":{"name":"a"}}
{"_ng_task_index":1,"_ng_rollout_index":0,"_ng_failure_class":"agent_run_error","_ng_failure_http_status":500,"failure_kind":3,"mask_sample":true,"agent_ref":{"name":"a"}}
{"_ng_task_index":1,"_ng_rollout_index":1,"_ng_failure_class":"agent_run_error","reward":null,"agent_ref":{"name":"a"}}
{"_ng_task_index":0,"_ng_rollout_index":0,"_ng_failure_class":"agent_run_error","agent_ref":{"name":"a"}}
`
	const inputs = `{"_ng_task_index":1,"_ng_rollout_index":0,"weight":5,"other":1,"agent_ref":{"name":"a"}}
{"_ng_task_index":2,"_ng_rollout_index":0,"weight":7,"agent_ref":{"name":"a"}}
{"_ng_task_index":0,"_ng_rollout_index":1,"agent_ref":{"name":"a"}}
{"_ng_task_index":3,"_ng_rollout_index":0}
`
	for _, test := range []struct {
		zeros                        Zeros
		counted, imputed, unroutable int
		want                         map[string]float64
	}{
		{Zeros{}, 0, 0, 0, map[string]float64{"mean/reward": 1, "mean/weight": 2}},
		{Zeros{Classes: []string{"agent_run_error"}}, 2, 0, 0, map[string]float64{"mean/reward": 0.5, "mean/weight": 3.5}},
		{Zeros{Classes: []string{"transient"}}, 1, 0, 0, map[string]float64{"mean/reward": 0.5}},
		{Zeros{Missing: true}, 0, 1, 1, map[string]float64{"mean/reward": 0.5, "mean/weight": 4.5}},
	} {
		c := NewCollection(test.zeros)
		c.Shard()
		m := &Mapper{Keys: true, Fields: []string{ClassField}}
		err := errors.Join(eachLine([]byte(results), m, false, 0, c.Result), eachLine([]byte(failures), m, false, 0, c.Failure), eachLine([]byte(inputs), m, false, 0, c.Input))
		if err != nil {
			t.Fatal(err)
		}
		run, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		a, err := run.Aggregate()
		if err != nil {
			t.Fatal(err)
		}
		if c.Counted != test.counted || c.Imputed != test.imputed || c.Unroutable != test.unroutable {
			t.Errorf("%+v: %d counted, %d imputed, %d unroutable", test.zeros, c.Counted, c.Imputed, c.Unroutable)
		}
		checkMetrics(t, a.Entries[0].Metrics(), test.want)
		absent(t, a.Entries[0].Metrics(), "mean/other", "mean/failure_kind", "mean/_ng_failure_http_status", "coverage/masked_rollouts")
	}
}

// TestProfileEdges covers the rules of matching that no sample shows.
func TestProfileEdges(t *testing.T) {
	profile := func(results, inputs string, partial bool) (*Profile, error) {
		return mustRun(t, results, false).Profile(mustRun(t, inputs, false), ProfileOptions{AllowPartial: partial})
	}
	in := func(task, rollout int, agent string) string {
		if agent == "" {
			return fmt.Sprintf(`{"_ng_task_index":%d,"_ng_rollout_index":%d}`+"\n", task, rollout)
		}
		return fmt.Sprintf(`{"_ng_task_index":%d,"_ng_rollout_index":%d,"agent_ref":{"name":"%s"}}`+"\n", task, rollout, agent)
	}
	results := rows(`0 0 "reward":1`, `0 1 "reward":0`, `0 2 "reward":1`, `0 3 "reward":1`)

	p, err := profile(results, in(0, 0, "x")+in(0, 1, "x")+in(0, 2, "y")+in(0, 3, "y"), false)
	if err != nil || !p.FanOut || p.Groups() != 2 || p.Group(1).Label != "y" || p.Group(1).Completion() != 100 || len(p.Repeats) != 4 {
		t.Fatalf("two labels share a task: %+v, %v", p, err)
	}
	p, err = profile(rows(`0 0 "reward":1`, `0 1 "reward":0`, `0 2 "reward":1`), in(0, 0, "x")+in(0, 1, "x")+in(0, 2, "y")+in(0, 3, "y"), true)
	if err != nil || p.Group(1).Completion() != 50 || p.Group(1).Missing() != 1 || len(p.Repeats) != 2 {
		t.Fatalf("one of four is missing: %+v, %v", p, err)
	}
	p, err = profile(results, in(0, 0, "")+in(0, 1, "")+in(0, 2, "")+in(0, 3, ""), false)
	if err != nil || p.Groups() != 1 || len(p.Agents) != 0 || len(p.Repeats) != 0 {
		t.Fatalf("no labels: %+v, %v", p, err)
	}
	p, err = profile(rows(`0 0 "reward":1`, `1 0 "reward":0`), in(0, 0, "x")+in(1, 0, ""), false)
	if err != nil || p.FanOut || p.Groups() != 2 || len(p.Agents) != 1 || len(p.Agents[0].Rows) != 1 {
		t.Fatalf("a label on some rows: %+v, %v", p, err)
	}
	p, err = profile(rows(`0 0 "reward":1,"mask_sample":1`, `1 0 "reward":0`), in(0, 0, "x")+in(1, 0, "y"), false)
	if err != nil || p.Groups() != 1 || p.Completion.Masked != 1 || p.Agents[0].Label != "y" || p.Agents[0].Coverage != nil || p.Agents[1].Stats != nil {
		t.Fatalf("one agent is masked: %+v, %v", p, err)
	}
	for name, test := range map[string][2]string{
		"missing": {rows(`0 0`), in(0, 0, "a") + in(0, 1, "a")}, "extra": {rows(`0 0`, `7 7`), in(0, 0, "a")},
		"inputs twice": {rows(`0 0`), in(0, 0, "a") + in(0, 0, "a")}, "results twice": {rows(`0 0`, `0 0`), in(0, 0, "a")},
		"no index": {`{"_ng_rollout_index":0}`, in(0, 0, "a")}, "input without index": {rows(`0 0`), `{"_ng_task_index":0}`},
	} {
		if _, err := profile(test[0], test[1], false); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := profile("", "", false); err != nil || p.Completion.Percent() != 100 {
		t.Errorf("nothing: %+v, %v", p, err)
	}
}

// TestHugeNumbers makes sure that nothing that is not a number reaches a file.
func TestHugeNumbers(t *testing.T) {
	e := allRowsOf(t, rows(`0 0 "reward":1.7e308`, `0 1 "reward":1.7e308`, `1 0 "reward":-1.7e308,"x":1e300`, `1 1 "reward":1e-320`))
	for _, m := range e.Metrics() {
		if !m.Value.Finite() {
			t.Errorf("%s = %v", m.Name, m.Value.Float())
		}
	}
	var b bytes.Buffer
	if err := e.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := value.Strict(b.Bytes()); err != nil {
		t.Errorf("%v in %s", err, b.Bytes())
	}
	s := mustRun(t, rows(`0 0 "reward":1.7e308`, `0 1 "reward":-1.7e308`), true).Scores(ScoreOptions{})
	if s.All.Measured != 2 || s.Binary {
		t.Errorf("%+v", s.All)
	}
}

func TestSums(t *testing.T) {
	var values []float64
	exact := &exactSum{}
	for i := range 5000 {
		x := math.Sin(float64(i)) * math.Pow(10, float64(i%30-15))
		values = append(values, x)
		exact.add(x)
	}
	want := exact.value()
	for name, have := range map[string]float64{"pairwise": pairwise(values), "compensated": compensated(values)} {
		if !near(have, want) {
			t.Errorf("%s: %v, want %v", name, have, want)
		}
	}
	tiny := &exactSum{}
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		tiny.add(x)
	}
	if tiny.value() != 2 || compensated([]float64{1, 1e100, 1, -1e100}) != 2 {
		t.Errorf("%v", tiny.value())
	}
	sorted := []float64{1, 2, 4, 8}
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.75: 5, 1: 8} {
		if have := quantile(sorted, q); have != want {
			t.Errorf("quantile %v: %v, want %v", q, have, want)
		}
	}
}

// An exactSum adds without any rounding until its value is asked for.
type exactSum struct{ parts []float64 }

func (s *exactSum) add(x float64) {
	kept := 0
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			s.parts[kept] = low
			kept++
		}
		x = high
	}
	s.parts = append(s.parts[:kept], x)
}

// value is the sum, rounded once.
func (s *exactSum) value() float64 {
	n := len(s.parts)
	if n == 0 {
		return 0
	}
	n--
	high := s.parts[n]
	low := 0.0
	for n > 0 && low == 0 {
		x := high
		n--
		y := s.parts[n]
		high = x + y
		low = y - (high - x)
	}
	// A tie that was rounded to even goes the other way if what is left says so.
	if n > 0 && (low < 0 && s.parts[n-1] < 0 || low > 0 && s.parts[n-1] > 0) {
		y := low * 2
		if x := high + y; y == x-high {
			high = x
		}
	}
	return high
}
