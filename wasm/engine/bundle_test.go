package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/pack"
)

// The page reads the index of its bundle, opens a block, and shows what the bundle says of itself until other files
// are opened.
func TestBundle(t *testing.T) {
	const row = "{\"_ng_task_index\":1,\"_ng_rollout_index\":0}\n"
	var packed []byte
	w := pack.NewWriter(func(_ int, b []byte) error { packed = bytes.Clone(b); return nil })
	w.Begin("run/rollouts.jsonl")
	w.Write([]byte(row))
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	text, id, err := (&pack.Index{Made: "2026-01-02T03:04:05Z", By: "test", Title: "Tuesday", Filter: "task=1", Rows: pack.Rows{Of: 9, Kept: 1}, Files: w.Files(), Blocks: w.Blocks(),
		Left: []pack.Left{{Name: "x.env", Reason: "it is no file of a run"}}, Redaction: &pack.Redaction{Rules: []pack.RuleCount{{Action: "drop", Path: "secret"}}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	var e Engine
	call := func(request map[string]any) (answer map[string]any, err error) {
		b, _ := json.Marshal(request)
		out, _, err := e.Call(OpCall, b)
		if err != nil {
			return nil, err
		}
		return answer, json.Unmarshal(out, &answer)
	}
	if _, err := call(map[string]any{"op": "bundle", "text": string(text), "hash": strings.Repeat("0", 64)}); err == nil || !strings.Contains(err.Error(), "two versions") {
		t.Errorf("another index: %v", err)
	}
	answer, err := call(map[string]any{"op": "bundle", "text": string(text), "hash": id})
	if err != nil {
		t.Fatal(err)
	}
	head, _ := json.Marshal(answer["blocks"].([]any)[0])
	plain, _, err := e.Call(OpBlock, append(append(head, '\n'), packed...))
	if err != nil || string(plain) != row {
		t.Errorf("block %q, %v", plain, err)
	}
	for _, bad := range [][]byte{nil, []byte("{}"), []byte("{}\n"), append(append(bytes.Clone(head), '\n'), packed[1:]...), append(append(bytes.Clone(head), '\n'), 'x')} {
		if _, _, err := e.Call(OpBlock, bad); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
	shown := func() string {
		t.Helper()
		answer, err := call(map[string]any{"op": "render", "fragment": "tab=files", "fresh": true, "host": map[string]any{"Mode": "bundle", "Reading": true}})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(answer["regions"])
		return string(b) + answer["title"].(string)
	}
	list := []map[string]any{{"path": "run/rollouts.jsonl", "size": len(row)}}
	if _, err := call(map[string]any{"op": "reset"}); err != nil {
		t.Fatal(err)
	}
	if _, err := call(map[string]any{"op": "open", "files": list, "bundle": true}); err != nil {
		t.Fatal(err)
	}
	html := shown()
	for _, want := range []string{"bundle of 1 of 9 rows, redacted", "made 2026-01-02T03:04:05Z by test", "fit the filter task=1", "left out: x.env", "rule drop secret: 0 values", "Tuesday", id} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if _, err := call(map[string]any{"op": "open", "files": list}); err != nil {
		t.Fatal(err)
	}
	if html := shown(); strings.Contains(html, "bundle of") {
		t.Error("other files are shown as those of the bundle")
	}
}
