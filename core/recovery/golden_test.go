package recovery

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rollscope/rollscope/core/records"
)

// TestGoldenPlans holds plans against those of the reference, byte for byte.
func TestGoldenPlans(t *testing.T) {
	const dir = "../../testdata/resume"
	read := func(name string) (string, bool) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return "", false
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(b), true
	}
	for _, test := range []struct {
		stem, expected    string
		override, longest bool
	}{{"rollouts", ".", false, false}, {"clean", "retry_timeouts", true, false}, {"clean", "longest_first", false, true}, {"whole", "whole_last_line", false, false}} {
		inputs, _ := read("input/" + test.stem + "_materialized_inputs.jsonl")
		results, _ := read("input/" + test.stem + ".jsonl")
		failures, sidecar := read("input/" + test.stem + "_failures.jsonl")
		p, err := plan(inputs, results, failures, sidecar, records.Settings{MaxAttempts: records.DefaultMaxAttempts, Override: test.override}, test.longest)
		if err != nil {
			t.Errorf("%s: %v", test.expected, err)
			continue
		}
		want, _ := read("expected/" + test.expected + "/resume.json")
		if got := string(p.File()); got != want {
			var a, b any
			if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s\nwant %s", test.expected, got, want)
			} else {
				t.Errorf("%s: same values, other text:\n%s\nwant\n%s", test.expected, got, want)
			}
		}
	}
}
