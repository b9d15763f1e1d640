package atif

import (
	"os"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/finding"
)

const caseFolder = "../../testdata/cases/53-atif-tokens-and-steps/"

func readCase(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(caseFolder + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCase looks at a document with copied context, a subagent and steps out of order.
func TestCase(t *testing.T) {
	v, list := Check(readCase(t, "trajectory.json"), "dir/trajectory.json", func(string) bool { return false })
	if v.Gym || v.Harbor || v.Importable {
		t.Errorf("%+v", v)
	}
	said := map[string]string{}
	for _, f := range list {
		said[f.ID] += f.Message() + "\n"
	}
	for id, want := range map[string]string{
		finding.ATIFInvalidGym:        "steps[4].step_id",
		finding.ATIFInvalidHarbor:     "steps[4].step_id",
		finding.ATIFObservationOrphan: "c9",
		finding.ATIFTotalSteps:        "6",
		finding.ATIFMetricsSum:        "5220",
		finding.ATIFMissingMedia:      "images/x.png",
	} {
		if !strings.Contains(said[id], want) {
			t.Errorf("%s: %q, want %s", id, said[id], want)
		}
	}
	if said[finding.ATIFDanglingSubagent] != "" || said[finding.ATIFUnknownVersion] != "" || !strings.Contains(said[finding.ATIFMetricsSum], "220") {
		t.Errorf("%v", said)
	}
	_, list = Check(readCase(t, "future.json"), "future.json", nil)
	if got := ids(t, list); !strings.Contains(got, finding.ATIFUnknownVersion) || strings.Contains(got, finding.ATIFMissingMedia) {
		t.Error(got)
	}
}

func TestCheck(t *testing.T) {
	base := parse(t, document)
	ref := "steps.1.observation.results.0.subagent_trajectory_ref"
	sub := `[{"trajectory_id":"t","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}]}]}]`
	for _, tt := range []struct {
		name    string
		changes []string
		want    string
	}{
		{"sound", nil, ""},
		{"notes explain the steps", []string{"final_metrics.total_steps", "9", "notes", `"n"`}, "atif.invalid_gym atif.not_importable"},
		{"other steps", []string{"final_metrics.total_steps", "9"}, "atif.invalid_gym atif.not_importable atif.total_steps"},
		{"another sum", []string{"final_metrics.total_prompt_tokens", "15"}, "atif.not_importable atif.metrics_sum"},
		{"a sum with copied context", []string{"final_metrics.total_prompt_tokens", "9", "final_metrics.total_completion_tokens", "3", "steps.1.is_copied_context", "true"}, "atif.not_importable"},
		{"a sum of some steps", []string{"final_metrics.total_cached_tokens", "8", "steps.1.metrics.cached_tokens", "1"}, ""},
		{"a tool without a result", []string{"steps.1.observation", "-"}, "atif.not_importable atif.tool_unanswered"},
		{"a reference to nothing", []string{ref, `[{"trajectory_id":"x"}]`}, "atif.not_importable atif.dangling_subagent"},
		{"a reference to a file", []string{ref, `[{"trajectory_id":"x","trajectory_path":"there.json"}]`}, "atif.not_importable"},
		{"a reference to no file", []string{ref, `[{"trajectory_path":"gone.json"}]`}, "atif.not_importable atif.dangling_subagent"},
		{"a reference to the web", []string{ref, `[{"trajectory_path":"http://x/gone.json"}]`}, "atif.not_importable"},
		{"a reference to a subagent", []string{ref, `[{"trajectory_id":"t"}]`, "subagent_trajectories", sub}, "atif.not_importable atif.tool_unanswered"},
		{"an image that is there", []string{"steps.2.message", `[{"type":"image","source":{"media_type":"image/png","path":"there.json"}}]`}, "atif.not_importable"},
		{"an image of the web", []string{"steps.2.message", `[{"type":"image","source":{"media_type":"image/png","path":"s3://x/p"}}]`}, "atif.not_importable"},
		{"an image that is not there", []string{"steps.1.observation.results.0.content", `[{"type":"image","source":{"media_type":"image/png","path":"p.png"}}]`}, "atif.not_importable atif.missing_media"},
		{"the indices of the name", []string{"extra", `{"nemo_gym":{"source":{"task_index":4,"rollout_index":2}}}`}, ""},
		{"other indices than the name", []string{"extra", `{"nemo_gym":{"source":{"task_index":4,"rollout_index":3}}}`}, "atif.source_identity"},
		{"no steps", []string{"steps", "-", "final_metrics", "-"}, "atif.invalid_gym atif.unreadable"},
	} {
		_, list := Check(lineOf(set(t, base, tt.changes...)), "d/4-2.json", func(name string) bool { return name == "d/there.json" })
		if got := ids(t, list); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || len(strings.Fields(got)) != len(strings.Fields(tt.want)) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		"{":                      "atif.unreadable",
		"":                       "atif.unreadable",
		"[]":                     "atif.invalid_gym atif.unreadable",
		`{"steps":[],"steps":1}`: "atif.invalid_gym atif.unreadable",
		"1e999":                  "atif.invalid_gym atif.unreadable",
	} {
		if _, list := Check([]byte(text), "x.json", nil); ids(t, list) != want {
			t.Errorf("%s: %s, want %s", text, ids(t, list), want)
		}
	}
	// What only the strict reader refuses is held against the other rules all the same.
	text := strings.Replace(document, `"version":"1"`, `"version":"1","version":"1"`, 1)
	if v, list := Check([]byte(text), "x.json", nil); v.Gym || !v.Harbor || v.Importable || ids(t, list) != "atif.invalid_gym atif.not_importable" {
		t.Errorf("%+v %s", v, ids(t, list))
	}
}
