package view

import (
	"fmt"
	"strings"
	"testing"
)

// timedRow has calls of no turn before, between and behind its turns, by their clocks.
func timedRow(lost ...string) string {
	call := func(id, start string) string {
		return `{"model_call_id":"` + id + `",` + start + `"response_metadata":{"status_code":200},"token_stats":{}}`
	}
	turn := func(n int, call string) string {
		return fmt.Sprintf(`{"invocation_id":"r","task_id":"t","rollout_id":"x","turn_no":%d,"timestamp":%d,"step_count":0,"answer":"a","model_calls":[{"model_call_id":"%s"}]}`, n, 100*n, call)
	}
	calls := []string{call("m1", `"started_at":100,"completed_at":110,`), call("m2", `"started_at":200,"completed_at":210,`)}
	for i, start := range lost {
		calls = append(calls, call(fmt.Sprint("x", i), start))
	}
	return `{"ng_trajectory":{"task_id":"t","rollout_id":"x","invocations":[{"invocation_id":"r"}],"turns":[` + turn(1, "m1") + "," + turn(2, "m2") + `],"model_calls":[` + strings.Join(calls, ",") + `]}}`
}

// TestLostCalls puts model calls of no turn where their clocks say, and behind the calls before them where there is none.
func TestLostCalls(t *testing.T) {
	talk := talkOf(t, timedRow(`"started_at":50,`, `"started_at":150,`, `"started_at":300,`, ``))
	if got := fmt.Sprint(talk.before); got != "[[2] [3] [4 5]]" {
		t.Error(got)
	}
	for p, want := range map[spot]int{{'c', 2}: 0, {'c', 3}: 1, {'c', 4}: 1, {'c', 1}: 1, {'i', 0}: 0} {
		if got, ok := talk.turnOf(p); !ok || got != want {
			t.Errorf("%v: turn %d %t, want %d", p, got, ok, want)
		}
	}
	for _, p := range []spot{{'c', 99}, {'t', 0}, {'f', 0}, {'i', 7}, {'s', 0}} {
		if _, ok := talk.turnOf(p); ok {
			t.Errorf("%v has a turn", p)
		}
	}
}

// TestSpots reads what a State names, and nothing else.
func TestSpots(t *testing.T) {
	for text, want := range map[string]string{"c5": "c5", "c5.request": "c5 request", "f12": "f12", "": "no", "c": "no", "c0": "no", "c-1": "no", "x3": "no", "cc": "no"} {
		p, side, ok := spotOf(text)
		got := "no"
		if ok {
			got = strings.TrimSpace(p.String() + " " + side)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestTimelineView lays a rollout out in lanes, in the markup or, where it is too much for it, for the script.
func TestTimelineView(t *testing.T) {
	v := talkOf(t, timedRow(`"started_at":150,"completed_at":250,`, ``)).timelineView(State{At: "c3"}, 0)
	var lanes []string
	for _, l := range v.Lanes {
		lanes = append(lanes, fmt.Sprintf("%s %d+%d", l.Label, l.Row, l.Rows))
	}
	if got := strings.Join(lanes, ", "); got != "agents 0+1, turns 1+1, calls 2+2" {
		t.Error(got)
	}
	if len(v.Marks) != 6 || v.Drawn || v.Missing != 1 || v.Unplaced[0].Reason == "" || v.Table.Total != 7 {
		t.Errorf("%d marks, drawn %t, %d missing, table of %d", len(v.Marks), v.Drawn, v.Missing, v.Table.Total)
	}
	for _, m := range v.Marks {
		if m.Current != (m.At == "c3") || m.From < 0 || m.From+m.Width > 1.000001 {
			t.Errorf("%+v", m)
		}
	}
	if talkOf(t, `{"response":{"output":"x"}}`).timelineView(State{}, 0) == nil {
		t.Error("a turn without a clock is not told of")
	}
}

// TestTimeTicks are few, begin at 0 and stay inside.
func TestTimeTicks(t *testing.T) {
	for _, whole := range []float64{0, 1e-9, 0.004, 1, 14.9, 59, 61, 555, 1e5, 1e12} {
		list := timeTicks(whole)
		if len(list) == 0 || len(list) > 12 || list[0].At != 0 || list[len(list)-1].At > 1 {
			t.Errorf("%g seconds: %v", whole, list)
		}
	}
}
