package modelcall

import (
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

func scan(t testing.TB, text string) jsonscan.Value {
	t.Helper()
	v, err := new(jsonscan.Scanner).Scan([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestKey(t *testing.T) {
	for _, tt := range []struct{ row, want string }{ // "!" is a bad key
		{`{"_ng_task_index":3,"_ng_rollout_index":1}`, "3-1"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":0}`, "3-1"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":null}`, "3-1"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":-1}`, "3-1"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":2}`, "3-1-a2"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":"2"}`, "3-1-a2"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":" +1_0 "}`, "3-1-a10"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":2.7}`, "3-1-a2"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":0.9}`, "3-1"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":true}`, "3-1-a1"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":1e20}`, "3-1-a100000000000000000000"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":"x"}`, "!"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":[1]}`, "!"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":"1__0"}`, "!"},
		{`{"_ng_task_index":3,"_ng_rollout_index":1,"_ng_attempt_index":"+-1"}`, "!"},
		{`{"_ng_rollout_id":"run7","_ng_attempt_index":1}`, "run7-a1"},
		{`{"_ng_task_index":0.0,"_ng_rollout_index":1}`, "0.0-1"},
		{`{"_ng_task_index":"a b","_ng_rollout_index":1}`, "a b-1"},
		{`{"_ng_task_index":true,"_ng_rollout_index":1}`, "True-1"},
		{`{"_ng_rollout_id":""}`, "!"}, {`{"_ng_rollout_id":"-x"}`, "!"}, {`{"_ng_rollout_id":".x"}`, "!"}, {`{"_ng_rollout_id":5}`, "!"},
		{`{"_ng_rollout_id":"a\n"}`, "!"}, {`{"_ng_rollout_id":"a/b"}`, "!"},
		{`{"_ng_rollout_id":null,"_ng_task_index":1,"_ng_rollout_index":2}`, "1-2"},
		{`{"_ng_task_index":null,"_ng_rollout_index":2}`, ""}, {`{}`, ""},
	} {
		v := scan(t, tt.row)
		n := Names{v.Get("_ng_rollout_id"), v.Get("_ng_task_index"), v.Get("_ng_rollout_index"), v.Get("_ng_attempt_index")}
		key, err := n.Key()
		if err != nil {
			key = "!"
			if _, ok := err.(*BadKeyError); !ok || err.Error() == "" {
				t.Errorf("%s: %v", tt.row, err)
			}
		}
		if key != tt.want {
			t.Errorf("%s: %q, want %q", tt.row, key, tt.want)
		}
	}
}

func TestFile(t *testing.T) {
	for _, tt := range []struct {
		name, key string
		kind      FileKind
	}{
		{"0-0.capture.jsonl", "0-0", FileCapture}, {"0-0.capture.incomplete", "0-0", FileMarker}, {"...capture.jsonl", "..", FileCapture}, {"-x.capture.jsonl", "-x", FileCapture},
		{"a.capture.jsonl.capture.jsonl", "a.capture.jsonl", FileCapture}, {"0-0.capture.claim", "0-0", FileClaim}, {"0-0.capture.claim.6f2", "0-0", FileClaim},
		{"a b-0.capture.jsonl", "a b-0", FileBadKey}, {".capture.jsonl", "", FileBadKey}, {"0-0.tokens.jsonl", "", FileOther}, {"0-0.tokens.state.json", "", FileOther},
		{"0-0.lineage.jsonl", "", FileOther}, {"0-0.jsonl", "", FileOther}, {"0-0.capture.a.b.c", "", FileOther}, {"0-0.capture.", "", FileOther}, {"0-0.capture.jsonl.tmp", "", FileOther},
	} {
		if key, kind := File(tt.name); key != tt.key || kind != tt.kind {
			t.Errorf("%s: %q %d, want %q %d", tt.name, key, kind, tt.key, tt.kind)
		}
	}
	if CaptureFile("k") != "k.capture.jsonl" || MarkerFile("k") != "k.capture.incomplete" || FileKey("a b") || !FileKey("..") {
		t.Error("names of files")
	}
}
