package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// scoredRuns makes two runs of the same tasks, whose rewards are digits by task and repeat.
func scoredRuns(t *testing.T) string {
	t.Helper()
	contents := map[string]string{}
	for name, tasks := range map[string][]string{"before": {"11", "01", "00", "11", "10"}, "after": {"00", "11", "11", "11", "01"}} {
		var b strings.Builder
		for task, rewards := range tasks {
			for repeat, reward := range rewards {
				fmt.Fprintf(&b, `{"_ng_task_index":%d,"_ng_rollout_index":%d,"reward":%c,"agent_ref":{"name":"agent"},"responses_create_params":{"input":"task %d"},`+
					`"response":{"output":[{"type":"message","role":"assistant","content":"let me see"},{"type":"message","role":"assistant","content":"the answer of %s in repeat %d"}],"usage":{"output_tokens":%d}}}`+"\n",
					task, repeat, reward, task, name, repeat, 10+task)
			}
		}
		contents[name+"/rollouts.jsonl"] = b.String()
	}
	return files(t, contents)
}

// TestCompare drops two runs, wants the flips that the command reports, follows one of them to both transcripts, goes
// on to a rollout and back.
func TestCompare(t *testing.T) {
	folder := scoredRuns(t)
	out, talk, code := product.Run(t, folder, "compare", "after", "before", "--derive", "--json")
	if code != 0 {
		t.Fatalf("status %d, %s", code, talk)
	}
	var report struct {
		Comparisons []struct {
			Flips []struct {
				Common int `json:"common_task_count"`
				ToFail int `json:"pass_to_fail_count"`
				ToPass int `json:"fail_to_pass_count"`
				Tied   int `json:"tied_count"`
			}
			Metrics []struct {
				Metric     string
				Candidates []struct{ Delta *json.Number }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Comparisons) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	flips := report.Comparisons[0].Flips[0]
	p := open(t, "")
	p.Drop(filepath.Join(folder, "before"), filepath.Join(folder, "after"))
	p.WaitState("ready")
	p.Key("g m")
	p.current("compare")
	want := map[string]string{
		"compare.common": strconv.Itoa(flips.Common), "compare.pass_to_fail": strconv.Itoa(flips.ToFail),
		"compare.fail_to_pass": strconv.Itoa(flips.ToPass), "compare.tied": strconv.Itoa(flips.Tied),
	}
	p.WaitStats(want)
	for _, m := range report.Comparisons[0].Metrics {
		if len(m.Candidates) == 1 && m.Candidates[0].Delta != nil {
			a, _ := m.Candidates[0].Delta.Float64()
			if b, err := strconv.ParseFloat(p.Stat("compare.delta."+m.Metric), 64); err != nil || a != b {
				t.Errorf("%s changes by %v, the command says %v", m.Metric, b, a)
			}
		}
	}
	// The report that is saved says the same as that of the command.
	var ours, theirs struct{ Comparisons any }
	if err := json.Unmarshal(p.Download("compare_report.json"), &ours); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(out), &theirs); err != nil || !reflect.DeepEqual(ours, theirs) {
		t.Errorf("%v: the page saves %v, the command %v", err, ours, theirs)
	}
	p.Settled()
	// The first of the list got worse in this direction.
	if text := p.Text(`[data-table="pairs"] [data-rows] tr`); !strings.Contains(text, "pass → fail") {
		t.Errorf("the first task reads %q", text)
	}
	p.Click(`[data-table="pairs"] [data-rows] tr td:nth-child(4)`)
	p.Wait(`document.querySelector(".talk [data-diverged]")`)
	p.Settled()
	text := p.Text(".talk")
	for _, part := range []string{"before/rollouts.jsonl", "after/rollouts.jsonl", "the answer of", "2 items the same"} {
		if !strings.Contains(text, part) {
			t.Errorf("the transcripts lack %q: %.500q", part, text)
		}
	}
	if sides := Eval[int](p, `document.querySelectorAll(".talk [data-diverged] .talk-item").length`); sides != 2 {
		t.Errorf("%d sides", sides)
	}
	p.Click(".talk-head a")
	p.Wait(`document.querySelector("[data-page=rollout]")`)
	p.Key("Escape")
	p.Wait(`document.querySelector(".talk")`)
	p.Settled()
	p.Click(`[data-page="talk"] .button`)
	p.Wait(`document.querySelector("[data-page=compare]")`)
	p.WaitStats(want)
	// The runs change places.
	p.Settled()
	p.Click("Swap")
	p.WaitStats(map[string]string{"compare.pass_to_fail": want["compare.fail_to_pass"], "compare.fail_to_pass": want["compare.pass_to_fail"]})
}
