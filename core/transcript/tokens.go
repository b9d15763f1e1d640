package transcript

import (
	"fmt"
	"math"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// A Sequence is what a row holds of the tokens of one thing that a model said: which ids, how likely each was, which
// count for a loss. The lists are spans of the row; [Sequence.Read] opens them.
type Sequence struct {
	Where string // what it belongs to: "message", "row"
	Turn  int    // −1 where no turn has it
	Value jsonscan.Value

	Prompt, IDs, LogProbs, Mask, Entropy jsonscan.Value
	MaskName                             string
	Others                               []Series         // further log probabilities
	Parts                                []jsonscan.Value // lists of objects with token, logprob and alternatives
}

// A Series is a further list of numbers, by its name.
type Series struct {
	Name   string
	Values jsonscan.Value
}

// Sequences finds the tokens of a row. The same tokens often stand in several places; those of the turns win over those
// of the response, and these over what invocations and model calls repeat.
func (t *Rollout) Sequences(row *rollout.Row) []Sequence {
	var list []Sequence
	items := func(items []Item, turn int) {
		var last jsonscan.Value
		for i := range items {
			// Items of one message share its value.
			if v := items[i].Value; !last.Exists() || v.Offset() != last.Offset() {
				list = appendSequence(list, v, items[i].Kind.String(), turn)
				last = v
			}
		}
	}
	for i := range t.Turns {
		items(t.Turns[i].Reasoning, i)
		items(t.Turns[i].Answer, i)
	}
	if t.Saved && len(list) == 0 {
		items(said(row.Response), -1)
		t.adopt(list)
	}
	if len(list) == 0 {
		for i := range t.Invocations {
			if at := t.Invocations[i].At; at != nil {
				items(Items(at.Conversation), -1)
			}
		}
	}
	if len(list) == 0 {
		for i := range t.Calls {
			turn := -1
			if made := t.Calls[i].Turns; len(made) > 0 {
				turn = made[0]
			}
			response := t.Calls[i].At.Response
			items(said(response), turn)
			e := response.Get("choices").Elements()
			for e.Next() {
				list = appendSequence(list, e.Value, "choice", turn)
			}
		}
	}
	e := row.Response.Get("choices").Elements()
	for e.Next() {
		list = appendSequence(list, e.Value, "choice", -1)
	}
	list = appendSequence(list, row.Response, "response", -1)
	return appendSequence(list, row.Value, "row", -1)
}

// adopt finds the turns of sequences of the response: by the id of a tool call, or by what was said.
func (t *Rollout) adopt(list []Sequence) {
	turns := map[string]int{}
	for i := range t.Turns {
		for k := range t.Turns[i].Answer {
			if name := mark(&t.Turns[i].Answer[k]); name != "" {
				if _, taken := turns[name]; !taken {
					turns[name] = i
				}
			}
		}
	}
	for i := range list {
		items := Items(list[i].Value)
		for k := range items {
			if turn, known := turns[mark(&items[k])]; known && list[i].Turn < 0 {
				list[i].Turn = turn
			}
		}
	}
}

// mark is what tells an item from others wherever it is repeated, "" for one that nothing tells.
func mark(it *Item) string {
	if it.Kind == ToolCall && it.HasCallID {
		return "call " + it.CallID
	}
	text := ""
	for _, p := range it.Content() {
		text += p.Text.Text()
	}
	if text == "" {
		return ""
	}
	return it.Kind.String() + " " + text
}

// appendSequence takes what an object holds of tokens.
func appendSequence(list []Sequence, v jsonscan.Value, where string, turn int) []Sequence {
	if !v.IsObject() {
		return list
	}
	s := Sequence{Where: where, Turn: turn, Value: v}
	some := false
	m := v.Members()
	for m.Next() {
		key, value := string(m.Key), m.Value
		if key == "content" {
			e := value.Elements()
			for e.Next() {
				if probs := e.Value.Get("logprobs"); probs.IsArray() && probs.Truthy() {
					s.Parts, some = append(s.Parts, probs), true
				}
			}
			continue
		}
		if key == "logprobs" && value.IsObject() {
			if probs := value.Get("content"); probs.IsArray() && probs.Truthy() {
				s.Parts, some = append(s.Parts, probs), true
			}
			continue
		}
		if !tokenKey(key) || value.IsNull() {
			continue
		}
		if value.IsArray() && value.Truthy() {
			some = true
		}
		switch {
		case key == "prompt_token_ids":
			s.Prompt = value
		case strings.HasSuffix(key, "token_ids"):
			s.IDs = value
		case strings.HasSuffix(key, "mask"):
			s.Mask, s.MaskName = value, key
		case key == "entropy" || key == "entropies":
			s.Entropy = value
		case key == "generation_log_probs" || key == "completion_log_probs" || key == "log_probs" || key == "logprobs" || key == "token_logprobs":
			if value.IsArray() && listOfObjects(value) {
				s.Parts = append(s.Parts, value)
				continue
			}
			s.LogProbs = value
		default:
			s.Others = append(s.Others, Series{key, value})
		}
	}
	if !some {
		return list
	}
	return append(list, s)
}

// tokenKey tells whether a key names a list that runs along tokens.
func tokenKey(key string) bool {
	return strings.HasSuffix(key, "token_ids") || strings.HasSuffix(key, "log_probs") || strings.HasSuffix(key, "logprobs") && key != "top_logprobs" ||
		strings.HasSuffix(key, "_mask") && key != "attention_mask" || key == "mask" || key == "entropy" || key == "entropies"
}

func listOfObjects(v jsonscan.Value) bool {
	e := v.Elements()
	return e.Next() && e.Value.IsObject()
}

// Lengths are how many tokens of the prompt and of the completion the lists tell of, without opening them.
func (s *Sequence) Lengths() (prompt, completion int) {
	length := func(v jsonscan.Value) int {
		if !v.IsArray() {
			return 0
		}
		n, _ := v.Parts()
		return n
	}
	prompt = length(s.Prompt)
	parts := 0
	for _, p := range s.Parts {
		parts += length(p)
	}
	completion = max(length(s.IDs), length(s.LogProbs), parts, length(s.Entropy))
	if completion == 0 {
		completion = max(length(s.Mask)-prompt, 0) // a mask alone
	}
	for _, o := range s.Others {
		completion = max(completion, length(o.Values))
	}
	return prompt, completion
}

// Tokens are the lists of a sequence, opened. Those along the completion have Len entries, or none where the row has no
// such list; missing numbers are NaN.
type Tokens struct {
	Prompt   []jsonscan.Value // ids
	IDs      []jsonscan.Value
	Len      int // tokens of the completion
	LogProbs []float64
	Entropy  []float64
	Bounded  bool // entropies follow from the saved alternatives and the rest taken as one: they are lower bounds
	Others   [][]float64
	Parts    []jsonscan.Value // objects with text and alternatives
	Mask     []int8           // along prompt and completion: 1 counts, 0 does not, −1 not said
	Problems []string         // what is wrong with the lists
}

// Read opens the lists.
func (s *Sequence) Read() *Tokens {
	t := &Tokens{}
	t.Prompt = t.list("prompt_token_ids", s.Prompt)
	t.IDs = t.list("token ids", s.IDs)
	for _, p := range s.Parts {
		t.Parts = append(t.Parts, t.list("logprobs", p)...)
	}
	_, t.Len = s.Lengths()
	t.ids(t.Prompt, "prompt_token_ids")
	t.ids(t.IDs, "token ids")
	fits := func(name string, n int) {
		if n > 0 && n != t.Len {
			t.say("%s have %d entries for %d tokens", name, n, t.Len)
		}
	}
	fits("token ids", len(t.IDs))
	fits("logprobs of the parts", len(t.Parts))
	if t.LogProbs = t.numbers("log probabilities", s.LogProbs, fits); t.LogProbs == nil && len(t.Parts) > 0 {
		t.LogProbs = make([]float64, t.Len)
		for i := range t.LogProbs {
			t.LogProbs[i] = math.NaN()
			if i < len(t.Parts) {
				if f, ok := t.Parts[i].Get("logprob").Float(); ok {
					t.LogProbs[i] = f
				}
			}
		}
	}
	above := 0
	for _, p := range t.LogProbs {
		if p > 1e-6 {
			above++
		}
	}
	if above > 0 {
		t.say("%d log probabilities are above 0", above)
	}
	t.Entropy = t.numbers("entropies", s.Entropy, fits)
	if t.Entropy == nil {
		t.estimate()
	}
	for _, o := range s.Others {
		t.Others = append(t.Others, t.numbers(o.Name, o.Values, fits))
	}
	t.mask(s)
	return t
}

func (t *Tokens) say(format string, args ...any) {
	t.Problems = append(t.Problems, fmt.Sprintf(format, args...))
}

func (t *Tokens) list(name string, v jsonscan.Value) []jsonscan.Value {
	if v.IsNull() {
		return nil
	}
	if !v.IsArray() {
		t.say("%s are no list but %s", name, v.Kind())
		return nil
	}
	n, _ := v.Parts()
	list := make([]jsonscan.Value, 0, n)
	e := v.Elements()
	for e.Next() {
		list = append(list, e.Value)
	}
	return list
}

func (t *Tokens) ids(list []jsonscan.Value, name string) {
	odd := 0
	for _, v := range list {
		if v.Kind() != jsonscan.Int {
			odd++
		}
	}
	if odd > 0 {
		t.say("%d of %d entries of %s are no whole numbers", odd, len(list), name)
	}
}

// numbers opens a list along the completion.
func (t *Tokens) numbers(name string, v jsonscan.Value, fits func(string, int)) []float64 {
	list := t.list(name, v)
	if len(list) == 0 {
		return nil
	}
	fits(name, len(list))
	numbers, odd := make([]float64, t.Len), 0
	for i := range numbers {
		numbers[i] = math.NaN()
	}
	for i, v := range list {
		f, ok := v.Float()
		if !ok {
			odd++
			continue
		}
		if i < len(numbers) {
			numbers[i] = f
		}
	}
	if odd > 0 {
		t.say("%d of %d %s are no numbers", odd, len(list), name)
	}
	return numbers
}

// estimate makes entropies of the saved alternatives: what they leave of the probability counts as one more.
func (t *Tokens) estimate() {
	some := false
	list := make([]float64, t.Len)
	for i := range list {
		list[i] = math.NaN()
		if i >= len(t.Parts) {
			continue
		}
		sum, entropy := 0.0, 0.0
		add := func(p float64) {
			if p > 0 {
				entropy -= p * math.Log(p)
			}
		}
		n := 0
		e := t.Parts[i].Get("top_logprobs").Elements()
		for e.Next() {
			if f, ok := e.Value.Get("logprob").Float(); ok && f <= 0 {
				add(math.Exp(f))
				sum += math.Exp(f)
				n++
			}
		}
		if n > 0 {
			add(max(1-sum, 0))
			list[i], some = entropy, true
		}
	}
	if some {
		t.Entropy, t.Bounded = list, true
	}
}

// mask opens the mask, which runs along the completion or along all tokens.
func (t *Tokens) mask(s *Sequence) {
	list := t.list(s.MaskName, s.Mask)
	if len(list) == 0 {
		return
	}
	all := len(t.Prompt) + t.Len
	t.Mask = make([]int8, all)
	for i := range t.Mask {
		t.Mask[i] = -1
	}
	at := 0
	switch len(list) {
	case all:
	case t.Len:
		at = len(t.Prompt)
	default:
		t.say("%s has %d entries for %d tokens", s.MaskName, len(list), all)
	}
	odd := 0
	for i, v := range list {
		bit := int8(0)
		if truth, ok := v.Truth(); ok {
			if truth {
				bit = 1
			}
		} else if f, ok := v.Float(); ok && (f == 0 || f == 1) {
			bit = int8(f)
		} else {
			odd++
			continue
		}
		if at+i < all {
			t.Mask[at+i] = bit
		}
	}
	if odd > 0 {
		t.say("%d of %d entries of %s are neither 0 nor 1", odd, len(list), s.MaskName)
	}
}

// Text is the text of a token of the completion, where the row has it.
func (t *Tokens) Text(i int) (string, bool) {
	if i < 0 || i >= len(t.Parts) {
		return "", false
	}
	text := t.Parts[i].Get("token")
	return text.Text(), text.IsString()
}
