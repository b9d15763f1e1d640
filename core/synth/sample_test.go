package synth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"strings"
	"testing"
	"unicode"
)

type sampleRow struct {
	Task     int    `json:"_ng_task_index"`
	Repeat   int    `json:"_ng_rollout_index"`
	TaskID   string `json:"task_id"`
	AgentRef struct {
		Name string
	} `json:"agent_ref"`
	Reward   float64
	Masked   bool `json:"mask_sample"`
	Response struct {
		Output []struct {
			Type   string
			CallID string `json:"call_id"`
			Output any
		}
	}
	Trajectory map[string]any `json:"ng_trajectory"`
}

func sampleData(t *testing.T) []byte {
	t.Helper()
	files := Sample()
	if len(files) != 1 || files[0].Name != "rollouts.jsonl" {
		t.Fatalf("the sample run is %d files, want rollouts.jsonl alone", len(files))
	}
	return files[0].Data
}

// sampleRows parses the sample; damaged tells how many lines do not parse.
func sampleRows(t *testing.T) (rows []sampleRow, damaged int) {
	t.Helper()
	for _, line := range lines(sampleData(t)) {
		var row sampleRow
		if json.Unmarshal(line, &row) != nil {
			damaged++
			continue
		}
		rows = append(rows, row)
	}
	return rows, damaged
}

func TestSampleIsSmallAndTheSameEveryTime(t *testing.T) {
	data := sampleData(t)
	if len(data) > 400_000 {
		t.Errorf("the sample has %d bytes", len(data))
	}
	if !bytes.Equal(makeSample(), data) {
		t.Error("made twice, the sample differs")
	}
	if n := bytes.Count(data, []byte("\n")); n < 40 || n > 60 {
		t.Errorf("the sample has %d lines", n)
	}
	if data[len(data)-1] != '\n' {
		t.Error("the sample has a torn tail")
	}
	Sample()[0].Name = "other"
	if Sample()[0].Name != "rollouts.jsonl" {
		t.Error("a caller can rename the file for others")
	}
}

func TestSampleRows(t *testing.T) {
	rows, damaged := sampleRows(t)
	if damaged != 1 {
		t.Errorf("%d lines are damaged, want 1", damaged)
	}
	type identity struct{ task, repeat int }
	count := map[identity]int{}
	agents := map[string]int{}
	rewards := map[float64]int{}
	masked, dark, repeated := 0, 0, 0
	for _, r := range rows {
		if r.TaskID != sampleTasks[r.Task].id {
			t.Errorf("task %d is called %q", r.Task, r.TaskID)
		}
		count[identity{r.Task, r.Repeat}]++
		if count[identity{r.Task, r.Repeat}] == 2 {
			repeated++
		}
		agents[r.AgentRef.Name]++
		rewards[r.Reward]++
		if r.Masked {
			masked++
		}
		if r.Trajectory == nil {
			dark++
		}
	}
	if len(count) != len(sampleEpisodes) || repeated != 1 {
		t.Errorf("%d rollouts, %d of them twice; planned are %d with one twice", len(count), repeated, len(sampleEpisodes))
	}
	if agents["opencode"] == 0 || agents["hermes"] == 0 || agents["terminus_2"] == 0 || len(agents) != 3 {
		t.Errorf("agents: %v", agents)
	}
	if rewards[0] < 10 || rewards[1] < 10 || len(rewards) != 2 || masked == 0 || dark == 0 {
		t.Errorf("rewards %v, %d masked, %d without trajectory", rewards, masked, dark)
	}
}

func TestSampleHasWhatAViewerMustShow(t *testing.T) {
	rows, _ := sampleRows(t)
	unanswered, orphans, longest := 0, 0, 0
	for _, r := range rows {
		calls := map[string]int{}
		for _, item := range r.Response.Output {
			switch item.Type {
			case "function_call":
				calls[item.CallID]++
			case "function_call_output":
				if calls[item.CallID] == 0 {
					orphans++
				}
				calls[item.CallID]--
				if text, ok := item.Output.(string); ok {
					longest = max(longest, len(text))
				}
			}
		}
		for _, open := range calls {
			if open > 0 {
				unanswered++
			}
		}
	}
	if unanswered != 1 || orphans != 1 {
		t.Errorf("%d calls without output and %d outputs without call, want one of each", unanswered, orphans)
	}
	if longest < 2000 {
		t.Errorf("the longest output has %d bytes", longest)
	}
	data := string(sampleData(t))
	for _, script := range []*unicode.RangeTable{unicode.Han, unicode.Cyrillic, unicode.Arabic, unicode.Devanagari} {
		if !strings.ContainsFunc(data, func(r rune) bool { return unicode.Is(script, r) }) {
			t.Error("a script is missing")
		}
	}
	for _, part := range []string{"<script>", "\u202e", "\u200b", `\u001b[32m`, `"generation_token_ids":[`, `"top_logprobs":[`, `"type":"reasoning"`, `"explore-1"`, samplePicture} {
		if !strings.Contains(data, part) {
			t.Errorf("%q is nowhere in the sample", part)
		}
	}
}

func TestSamplePictureIsOne(t *testing.T) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(samplePicture, "data:image/png;base64,"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil || config.Width != 40 || config.Height != 24 {
		t.Errorf("picture %v, error %v", config, err)
	}
	if _, err := png.Decode(bytes.NewReader(raw)); err != nil {
		t.Error(err)
	}
}

func TestQuoted(t *testing.T) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x01\b\f\n\r\t\x1f\x7f", "<&>\u2028 数据 🙂"} {
		var back string
		if err := json.Unmarshal(appendQuoted(nil, s), &back); err != nil || back != s {
			t.Errorf("%q comes back as %q, error %v", s, back, err)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, tc := range []struct {
		n      int64
		places int
		want   string
	}{{0, 3, "0.0"}, {1500, 3, "1.5"}, {1001, 3, "1.001"}, {12, 0, "12.0"}, {1_767_225_600_040, 3, "1767225600.04"}, {7, 6, "0.000007"}} {
		if got := string(appendDecimal(nil, tc.n, tc.places)); got != tc.want {
			t.Errorf("%d with %d places is %s, want %s", tc.n, tc.places, got, tc.want)
		}
	}
	for _, tc := range []struct {
		a, b int
		want string
	}{{0, 3, "0.0"}, {3, 3, "1.0"}, {2, 4, "0.5"}, {0, 1, "0.0"}} {
		if got := string(appendRatio(nil, tc.a, tc.b)); got != tc.want {
			t.Errorf("%d of %d is %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}
