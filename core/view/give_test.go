package view

import (
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
)

// TestGiveNames hands files on under the names that they have in their folder: where it lies is nobody's business.
func TestGiveNames(t *testing.T) {
	row := []byte(`{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"output":[]}}` + "\n")
	for _, c := range []struct{ given, want []string }{
		{[]string{"/home/me/secret/run/rollouts.jsonl", "/home/me/secret/run/rollouts_materialized_inputs.jsonl"}, []string{"run/rollouts.jsonl", "run/rollouts_materialized_inputs.jsonl"}},
		{[]string{"/home/me/a/rollouts.jsonl", "/home/me/b/rollouts.jsonl"}, []string{"me/a/rollouts.jsonl", "me/b/rollouts.jsonl"}},
		{[]string{"../../x/a.jsonl"}, []string{"x/a.jsonl"}},
		{[]string{"run/a.jsonl", "run/b.jsonl"}, []string{"run/a.jsonl", "run/b.jsonl"}},
		{[]string{"a.jsonl", "sub/b.jsonl"}, []string{"a.jsonl", "sub/b.jsonl"}},
		{[]string{"../a.jsonl"}, []string{"a.jsonl"}},
		{[]string{"/a.jsonl"}, []string{"a.jsonl"}},
		{[]string{"a.jsonl"}, []string{"a.jsonl"}},
	} {
		var files []runfolder.File
		data := map[string][]byte{}
		for _, name := range c.given {
			files = append(files, runfolder.File{Path: name, Size: int64(len(row))})
			data[name] = row
		}
		g, err := openDesk(t, files, data).Give(State{}, false)
		if err != nil {
			t.Errorf("%q: %v", c.given, err)
			continue
		}
		for i, f := range g.Files {
			if f.Path != c.want[i] {
				t.Errorf("%q: file %d is called %q", c.given, i, f.Path)
			}
		}
	}
}
