package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// exampleRow is the row of the spec's worked example.
const exampleRow = `{"_ng_task_index":0,"_ng_rollout_index":1,"agent_ref":{"name":"calc"},"ng_trajectory":{"task_id":"0","rollout_id":"0-1",` +
	`"invocations":[{"invocation_id":"main","status":"completed","model_calls":[{"model_call_id":"m1"}],"conversation":[{"role":"user","content":"2+2?","type":"message"},` +
	`{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"4","annotations":[]}]}]}],` +
	`"turns":[{"invocation_id":"main","task_id":"0","rollout_id":"0-1","turn_no":1,"timestamp":1700000000.25,"question":[{"role":"user","content":"2+2?","type":"message"}],` +
	`"answer":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"4","annotations":[]}]}],"step_count":0,"model_calls":[{"model_call_id":"m1"}]}],` +
	`"model_calls":[{"model_call_id":"m1","response_metadata":{"model":"tiny","dialect":"responses","status_code":200},"token_stats":{"prompt_tokens":9,"completion_tokens":1}}]}}`

func exporter() *Exporter { return &Exporter{Options: Options{Session: "S", AgentVersion: "v1"}} }

// TestExample holds the exported bytes against those of the reference.
func TestExample(t *testing.T) {
	doc, from, err := exporter().Row([]byte(exampleRow))
	if err != nil {
		t.Fatal(err)
	}
	text := Text(doc)
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); len(text) != 1789 || got != "6fb8f2644a5e493bfaa9e04fa8d951244859414f7cba2d51454d6d1b65f3ebb4" {
		t.Errorf("%d bytes, %s\n%s", len(text), got, text)
	}
	if !strings.Contains(string(text), `"timestamp": "2023-11-14T22:13:20.250000Z"`) || from.FileName() != "0-1.json" {
		t.Errorf("%s %+v", text, from)
	}
	for _, p := range []Profile{Gym, Harbor} {
		if list := Problems(doc, p); len(list) > 0 {
			t.Errorf("%s: %v", p, list)
		}
	}
	if err := Importable(doc); err != nil {
		t.Error(err)
	}
}
