package transcript

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

func sequences(t testing.TB, text string) []Sequence {
	t.Helper()
	row := new(rollout.Reader).Read(&jsonl.Line{Number: 1, Bytes: []byte(text), Length: int64(len(text))})
	if row.Problem != nil {
		t.Fatal(row.Problem)
	}
	return new(Reader).Read(row).Sequences(row)
}

// TestSequences finds tokens wherever a row may hold them, and says what is wrong with their lists.
func TestSequences(t *testing.T) {
	message := func(fields string) string {
		return `{"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}],` + fields + `}]}}`
	}
	for _, tt := range []struct{ name, row, want string }{
		{"none", message(`"prompt_token_ids":[],"generation_token_ids":[],"generation_log_probs":[]`), ""},
		{"whole", message(`"prompt_token_ids":[1,2],"generation_token_ids":[3,4,5],"generation_log_probs":[-1,-0.5,0]`), "message turn 0: 2+3, probs [-1 -0.5 0]"},
		{"short list", message(`"generation_token_ids":[3,4,5],"generation_log_probs":[-1]`), "message turn 0: 0+3, probs [-1 NaN NaN]; log probabilities have 1 entries for 3 tokens"},
		{"no numbers", message(`"generation_token_ids":[3,"x"],"generation_log_probs":[-1,null]`),
			"message turn 0: 0+2, probs [-1 NaN]; 1 of 2 entries of token ids are no whole numbers; 1 of 2 log probabilities are no numbers"},
		{"no list", message(`"generation_token_ids":[3],"generation_log_probs":"x"`), "message turn 0: 0+1; log probabilities are no list but string"},
		{"above zero", message(`"generation_log_probs":[0.5]`), "message turn 0: 0+1, probs [0.5]; 1 log probabilities are above 0"},
		{"mask of all", message(`"prompt_token_ids":[1],"generation_token_ids":[2,3],"loss_mask":[0,1,true]`), "message turn 0: 1+2, mask [0 1 1]"},
		{"mask of the completion", message(`"prompt_token_ids":[1],"generation_token_ids":[2,3],"loss_mask":[1,0]`), "message turn 0: 1+2, mask [-1 1 0]"},
		{"odd mask", message(`"generation_token_ids":[2,3],"loss_mask":[1,7,0]`), "message turn 0: 0+2, mask [1 -1]; loss_mask has 3 entries for 2 tokens; 1 of 3 entries of loss_mask are neither 0 nor 1"},
		{"parts", `{"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","logprobs":[{"token":"a","logprob":-0.25,"top_logprobs":[{"token":"a","logprob":-0.25}]}]}]}]}}`, "message turn 0: 0+1, probs [-0.25], entropy"},
		{"choices", `{"response":{"choices":[{"message":{"role":"assistant","content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1}]}}]}}`, "choice turn -1: 0+1, probs [-1]"},
		{"the row", `{"token_ids":[1,2],"log_probs":[-1,-2],"ref_log_probs":[-3,-4]}`, "row turn -1: 0+2, probs [-1 -2], ref_log_probs"},
	} {
		var got []string
		for _, s := range sequences(t, tt.row) {
			read := s.Read()
			line := fmt.Sprintf("%s turn %d: %d+%d", s.Where, s.Turn, len(read.Prompt), read.Len)
			if read.LogProbs != nil {
				line += fmt.Sprint(", probs ", read.LogProbs)
			}
			if read.Entropy != nil {
				line += ", entropy"
				if !read.Bounded || math.IsNaN(read.Entropy[0]) {
					t.Errorf("%s: %v", tt.name, read.Entropy)
				}
			}
			if read.Mask != nil {
				line += fmt.Sprint(", mask ", read.Mask)
			}
			for _, o := range s.Others {
				line += ", " + o.Name
			}
			got = append(got, strings.Join(append([]string{line}, read.Problems...), "; "))
		}
		if s := strings.Join(got, "\n"); s != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, s, tt.want)
		}
	}
}

// TestMarkdown keeps what was said from being markup: fences are longer than any in the text, headings are plain.
func TestMarkdown(t *testing.T) {
	r := read(t, []byte("{\"response\":{\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"# no\\n````\\n<script>\\u202e\"}]}}"))
	got := string(r.Markdown("a *b* <c>", []string{"reward 1"}))
	for _, want := range []string{"# a \\*b\\* \\<c\\>\n", "- reward 1\n", "\n`````text\n# no\n````\n<script>\\u{202e}\n`````\n", "## turn 1 of 1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
