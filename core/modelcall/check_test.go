package modelcall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/value"
)

// ids gathers the ids of findings, and makes sure that each can be put into words.
func ids(t *testing.T, check func(Notice)) string {
	t.Helper()
	var list []string
	check(func(id string, values ...value.Member) {
		f := finding.New(id, "", "f", values...)
		if f.Severity == "" || strings.Contains(f.Message(), "nothing") && !strings.Contains(id, "mismatch") {
			t.Errorf("%s: %s", id, f.Message())
		}
		list = append(list, strings.TrimPrefix(id, "calls."))
	})
	return strings.Join(list, " ")
}

func TestCheckCall(t *testing.T) {
	chunks := `data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n`
	response := `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":null}]}`
	refusal := strings.Replace(chunks, `\"content\":\"a\"`, `\"content\":\"a\",\"refusal\":\"no\"`, 1)
	for _, tt := range []struct{ line, want string }{
		{`{"model_call_id":"a"}`, ""},
		{`{"started_at":2,"completed_at":1,"latency_ms":1}`, "time_order clock_skew"}, {`{"latency_ms":-1}`, "time_order"},
		{`{"started_at":1,"completed_at":3,"latency_ms":999}`, "clock_skew"}, {`{"started_at":1,"completed_at":3,"latency_ms":1000}`, ""},
		{`{"latency_ttft_ms":2,"latency_ms":1}`, "ttft_order"},
		{`{"status_code":500}`, "category_mismatch"}, {`{"error_category":"upstream_5xx"}`, "unknown_category"},
		{`{"dialect":"chat","response":` + response + `,"response_raw":"` + chunks + `"}`, ""},
		{`{"dialect":"chat","response":` + strings.Replace(response, `"a"`, `"b"`, 1) + `,"response_raw":"` + chunks + `"}`, "stream_mismatch"},
		{`{"dialect":"chat","response":` + response + `,"response_raw":"` + refusal + `"}`, ""},
		{`{"dialect":"chat","response":null,"response_raw":"` + chunks + `","error_category":"timeout"}`, ""},
		{`{"dialect":"chat","response":null,"status_code":500,"error_category":"upstream_error","response_raw":"` + chunks + `"}`, ""},
		{`{"dialect":"chat","response":null,"response_raw":"` + strings.TrimSuffix(chunks, `data: [DONE]\n\n`) + `","error_category":"stream_truncated"}`, "stream_mismatch"},
	} {
		c := callOf(t, tt.line)
		if got := ids(t, func(add Notice) { CheckCall(c, add) }); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.line, got, tt.want)
		}
	}
}

func TestCensus(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{[]string{`{"model_call_id":"a"}`, `{"model_call_id":"b"}`}, ""}, {[]string{`{"model_call_id":"a"}`, `{}`, `{"model_call_id":"a"}`}, "duplicate_id"},
		{[]string{`{}`, `{}`}, ""}, {[]string{`{"started_at":0}`, `{"started_at":100000}`, `{"started_at":100001}`}, "far_off"}, {[]string{`{"started_at":0}`}, ""},
	} {
		var c Census
		for _, line := range tt.lines {
			c.Add(callOf(t, line))
		}
		if got := ids(t, c.Report); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.lines, got, tt.want)
		}
	}
}

// attachment makes the attachment of a capture.
func attachment(t *testing.T, lines ...string) value.Value {
	t.Helper()
	var a Attachment
	a.Reset("0-0")
	scan := Scan{Reader: new(Reader)}
	scan.Data([]byte(strings.Join(lines, "\n")), func(c *Call) { a.Add(c) })
	a.Gaps = scan.Gaps(true, false)
	v, err := value.Strict(a.AppendJSON(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCompareAttached(t *testing.T) {
	line := func(n int, at float64) string {
		return fmt.Sprintf(`{"model_call_id":"c%d","completed_at":%v,"latency_ms":1.5,"response":{"usage":{"input_tokens":%d}}}`, n, at, n)
	}
	two, three := attachment(t, line(1, 10), line(2, 20)), attachment(t, line(1, 10), line(2, 20), line(3, 30))
	edit := func(v value.Value, f func(value.Value) value.Value) value.Value {
		items := v.Get("calls").Items()
		items[0] = f(items[0])
		return v.With("calls", value.List(items...))
	}
	for _, tt := range []struct {
		name        string
		saved, made value.Value
		want        string
	}{
		{"equal", two, two, ""}, {"late", two, three, "late"}, {"missing", three, two, "missing"},
		{"a call in between", attachment(t, line(1, 10), line(3, 30)), three, strings.TrimSpace(strings.Repeat("attachment_mismatch ", 7))},
		{"another number", edit(two, func(c value.Value) value.Value { return c.With("tokens_in", value.Int(9)) }), two, "attachment_mismatch"},
		{"the same number", edit(two, func(c value.Value) value.Value { return c.With("tokens_in", value.Float(1)) }), two, ""},
		{"an older version", edit(two, func(c value.Value) value.Value { return c.Without("response_source", "client_session_id") }), two, "older_version"},
		{"payloads", edit(two, func(c value.Value) value.Value { return c.With("request", value.Int(1)) }), two, ""},
		{"another gap", two.With("gaps", value.List(value.Object(value.M("code", value.Text(GapIncomplete))))), two, "attachment_mismatch"},
		{"a gap of the trajectory", two.With("gaps", value.List(value.Object(value.M("code", value.Text(GapProjection))))), two, ""},
		{"another key", two.With("rollout_id", value.Text("x")), two, "attachment_mismatch"},
	} {
		if got := ids(t, func(add Notice) { CompareAttached(tt.saved, tt.made, add) }); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		saved value.Value
		alone bool
		want  string
	}{
		{two, true, ""}, {two.With("metrics", two.Get("metrics").With("num_calls", value.Int(3))), false, "metrics_mismatch"},
		{edit(two, func(c value.Value) value.Value { return c.With("latency_total_ms", value.Float(-1)) }), true, "metrics_mismatch time_order"},
		{edit(two, func(c value.Value) value.Value { return c.With("model_call_id", value.Text("c2")) }), true, "duplicate_id"},
		{value.Null, true, ""},
	} {
		if got := ids(t, func(add Notice) { CheckAttached(tt.saved, tt.alone, add) }); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.saved, got, tt.want)
		}
	}
	if got := ids(t, func(add Notice) { Damages([]Damage{{Line: 3, Reason: "r"}}, add); Damages(nil, add) }); got != "damaged" {
		t.Error(got)
	}
}
