package projection

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A benchRun is one rollout of an agent that works in steps: every request repeats what was said before.
type benchRun struct {
	raw, input, capture []byte
}

func makeBench(calls int) benchRun {
	var r benchRun
	var refs, history, capture strings.Builder
	history.WriteString(`{"role":"user","content":"` + strings.Repeat(`Please look at the \"report\" and fix what is wrong with it.\n`, 30) + `"}`)
	for i := range calls {
		if i > 0 {
			refs.WriteByte(',')
		}
		fmt.Fprintf(&refs, `{"model_call_id":"mc-%d"}`, i)
		answer := strings.Repeat(`def work(x):\n    return \"done\" + x  # a line of code and a comment behind it\n`, 12)
		fmt.Fprintf(&capture, `{"model_call_id":"mc-%d","dialect":"responses","model_ref":{"type":"responses_api_models","name":"policy"},"started_at":%d.25,"completed_at":%d.5,"latency_ms":1250.0,"latency_ttft_ms":80.25,"status_code":200,"error_category":null,"request":{"model":"m","input":[%s]},`, i, 1700000000+i*2, 1700000001+i*2, history.String())
		item := fmt.Sprintf(`{"id":"fc-%d","call_id":"call-%d","name":"bash","arguments":"{\"command\":\"%s\"}","type":"function_call"}`, i, i, strings.ReplaceAll(strings.ReplaceAll(answer, `\`, `\\`), `"`, `\"`))
		fmt.Fprintf(&capture, `"response":{"id":"resp-%d","object":"response","status":"completed","model":"m","output":[{"id":"rs-%d","type":"reasoning","summary":[{"type":"summary_text","text":"%s"}]},%s],"usage":{"input_tokens":%d,"output_tokens":200,"total_tokens":%d,"output_tokens_details":{"reasoning_tokens":50}}},"client_session_id":null,"upstream_attempted":true,"response_source":"upstream","upstream_status_code":200,"local_response_reason":null}`+"\n", i, i, strings.Repeat("thinking about it ", 40), item, 100+i, 300+i)
		history.WriteString(`,` + item + `,` + fmt.Sprintf(`{"call_id":"call-%d","output":"%s","type":"function_call_output"}`, i, strings.Repeat(`/usr/lib/python3/dist-packages/module.py:1234: warning\n`, 20)))
	}
	r.capture = []byte(capture.String())
	r.raw = []byte(`{"_ng_task_index":0,"_ng_rollout_index":0,"reward":1.0,"response":{"output":[` + history.String() + `],"usage":{"input_tokens":1,"output_tokens":2}},"ng_agent_observations":{"source":"bench","records":[{"kind":"agent_invocation","invocation_id":"root","status":"completed","model_calls":[` + refs.String() + `],"conversation":[` + history.String() + `]}],"gaps":[]}}`)
	r.input = []byte(`{"_ng_task_index":0,"_ng_rollout_index":0,"agent_ref":{"name":"a"}}`)
	return r
}

func (r *benchRun) size() int64 { return int64(len(r.raw) + len(r.capture)) }

func (r *benchRun) Capture(string) ([]byte, bool, bool, error) { return r.capture, true, false, nil }

// BenchmarkScan validates the bytes that BenchmarkRow works on.
func BenchmarkScan(b *testing.B) {
	r := makeBench(40)
	lines := append(bytes.Split(bytes.TrimSpace(r.capture), []byte{'\n'}), r.raw)
	b.SetBytes(r.size())
	var s jsonscan.Scanner
	for b.Loop() {
		for _, line := range lines {
			if _, err := s.Scan(line); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkRow projects a raw result with its capture.
func BenchmarkRow(b *testing.B) {
	r := makeBench(40)
	inputs, err := ReadInputs(func(add func([]byte, int) error) error { return add(r.input, 1) })
	if err != nil {
		b.Fatal(err)
	}
	p := Projector{Inputs: inputs, Captures: &r, Observability: true}
	line := &jsonl.Line{Number: 1, Bytes: r.raw, Length: int64(len(r.raw)), Terminated: true}
	b.SetBytes(r.size())
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		if dst, _, err = p.Row(dst[:0], line); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBudgetBuild holds the projection of a rollout against a plain scan of the same bytes, in one run: at most
// three times as long. The best time of all rounds counts, so that what else the machine does falls out.
func BenchmarkBudgetBuild(b *testing.B) {
	r := makeBench(40)
	inputs, err := ReadInputs(func(add func([]byte, int) error) error { return add(r.input, 1) })
	if err != nil {
		b.Fatal(err)
	}
	p := Projector{Inputs: inputs, Captures: &r, Observability: true}
	line := &jsonl.Line{Number: 1, Bytes: r.raw, Length: int64(len(r.raw)), Terminated: true}
	lines := append(bytes.Split(bytes.TrimSpace(r.capture), []byte{'\n'}), r.raw)
	var (
		scanner jsonscan.Scanner
		dst     []byte
	)
	scan, build := time.Hour, time.Hour
	b.SetBytes(r.size())
	for b.Loop() {
		for range 50 {
			start := time.Now()
			for _, line := range lines {
				if _, err := scanner.Scan(line); err != nil {
					b.Fatal(err)
				}
			}
			scan = min(scan, time.Since(start))
			start = time.Now()
			if dst, _, err = p.Row(dst[:0], line); err != nil {
				b.Fatal(err)
			}
			build = min(build, time.Since(start))
		}
	}
	b.ReportMetric(float64(r.size())/1e6/scan.Seconds(), "scan-MB/s")
	b.ReportMetric(float64(r.size())/1e6/build.Seconds(), "build-MB/s")
	b.ReportMetric(build.Seconds()/scan.Seconds(), "build/scan(≤3)")
}
