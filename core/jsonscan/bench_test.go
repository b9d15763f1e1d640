package jsonscan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rowKinds are the make-ups of a row that differ for a scanner: prose and tool calls with token arrays in
// between, prose alone, token arrays for the most part.
var rowKinds = []struct {
	name         string
	turns        int
	words        int
	tokens       int
	foreign      bool
	observations int
}{
	{"mixed", 12, 160, 420, false, 300},
	{"text", 12, 420, 0, false, 700},
	{"tokens", 12, 40, 1600, false, 20},
	{"foreign", 12, 200, 0, true, 300},
}

// row is what a typed reader of rollouts takes out of one.
type row struct {
	TaskIndex    int     `json:"_ng_task_index"`
	RolloutIndex int     `json:"_ng_rollout_index"`
	Reward       float64 `json:"reward"`
	Agent        struct {
		Name string `json:"name"`
	} `json:"agent_ref"`
	Params struct {
		Input []item `json:"input"`
	} `json:"responses_create_params"`
	Response struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Output []item `json:"output"`
		Usage  struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
			Total  int `json:"total_tokens"`
		} `json:"usage"`
	} `json:"response"`
}

type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Status    string          `json:"status"`
	Arguments string          `json:"arguments"`
	Output    string          `json:"output"`
	Content   json.RawMessage `json:"content"`
	Prompt    []int           `json:"prompt_token_ids"`
	Generated []int           `json:"generation_token_ids"`
	LogProbs  []float64       `json:"generation_log_probs"`
}

var (
	englishWords = []string{"the", "solution", "value", "because", "we", "find", "that", "(x+1)", "therefore,", "answer", "step", "is", "of", "function", "returns", "a", "list", "result.\n", "\"quoted\"", "path/to/file", "total", "=", "42", "and", "then", "naïve", "—", "check"}
	foreignWords = []string{"答案", "因此", "我们", "计算", "函数", "значение", "ответ", "решение", "値", "です", "🙂", "12", "=", "\n"}
)

// makeRows writes rows of the given make-up, the same for the same arguments.
func makeRows(kind, count int) [][]byte {
	shape := rowKinds[kind]
	random := rand.New(rand.NewPCG(uint64(kind), 7))
	prose := func(n int) string {
		var b []byte
		words := englishWords
		if shape.foreign {
			words = foreignWords
		}
		for range n {
			b = append(b, words[random.IntN(len(words))]...)
			if !shape.foreign {
				b = append(b, ' ')
			}
		}
		return string(b)
	}
	quoted := func(b []byte, s string) []byte {
		// Rows of the field carry text above ASCII as it is, and so does this.
		b = append(b, '"')
		for _, r := range s {
			switch r {
			case '"', '\\':
				b = append(b, '\\', byte(r))
			case '\n':
				b = append(b, `\n`...)
			default:
				b = append(b, string(r)...)
			}
		}
		return append(b, '"')
	}
	tokens := func(b []byte) []byte {
		if shape.tokens == 0 {
			return b
		}
		n := shape.tokens/2 + random.IntN(shape.tokens)
		for _, key := range []string{"prompt_token_ids", "generation_token_ids"} {
			b = append(b, `,"`+key+`":[`...)
			for i := range n {
				if i > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendInt(b, int64(random.IntN(1+random.IntN(150000))), 10)
			}
			b = append(b, ']')
		}
		b = append(b, `,"generation_log_probs":[`...)
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, -random.ExpFloat64()*random.Float64(), 'g', -1, 64)
		}
		return append(b, ']')
	}
	var rows [][]byte
	for r := range count {
		b := fmt.Appendf(nil, `{"responses_create_params":{"input":[{"role":"system","content":`)
		b = quoted(b, prose(shape.words))
		b = append(b, `},{"role":"user","content":`...)
		b = quoted(b, prose(shape.words))
		b = append(b, `}],"tools":[`...)
		for t := range 4 {
			if t > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"type":"function","name":"tool_%d","description":"Runs the tool number %d and gives its output.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Where to look."},"limit":{"type":"integer"}},"required":["path"]},"strict":true}`, t, t)
		}
		b = append(b, `],"temperature":1.0,"parallel_tool_calls":false},"response":{"id":"resp_`...)
		b = strconv.AppendUint(b, random.Uint64(), 16)
		b = append(b, `","created_at":1754556000.25,"status":"completed","error":null,"output":[`...)
		for t := range shape.turns {
			if t > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"id":"rs_%d","type":"reasoning","summary":[{"type":"summary_text","text":`, t)
			b = quoted(b, prose(shape.words))
			b = append(b, `}],"encrypted_content":null`...)
			b = tokens(b)
			b = fmt.Appendf(b, `},{"id":"fc_%d","type":"function_call","call_id":"call_%x","name":"tool_%d","status":"completed","arguments":`, t, random.Uint64(), t%4)
			b = quoted(b, fmt.Sprintf(`{"path": "src/part_%d.py", "limit": %d, "pattern": "def \"main\""}`, t, random.IntN(500)))
			b = fmt.Appendf(b, `},{"type":"function_call_output","call_id":"call_%x","output":`, random.Uint64())
			b = quoted(b, prose(shape.observations))
			b = append(b, '}')
		}
		b = append(b, `,{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":`...)
		b = quoted(b, prose(shape.words))
		b = fmt.Appendf(b, `}]}],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}},"reward":%v,"_ng_task_index":%d,"_ng_rollout_index":%d,"agent_ref":{"type":"responses_api_agents","name":"simple_agent"},"mask_sample":false}`,
			random.IntN(9000), random.IntN(900), random.IntN(9900), float64(r%3)/2, r/4, r%4)
		rows = append(rows, b)
	}
	return rows
}

// each runs read over rows of every make-up. Besides the mean it reports the sum of the best times of each
// row as best-MB/s, a figure that holds on a machine that is busy with other things.
func each(b *testing.B, read func(b *testing.B, line []byte)) {
	for kind, shape := range rowKinds {
		b.Run(shape.name, func(b *testing.B) {
			rows := makeRows(kind, 24)
			size := 0
			best := make([]time.Duration, len(rows))
			for i, line := range rows {
				size += len(line)
				best[i] = math.MaxInt64
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for i, line := range rows {
					start := time.Now()
					read(b, line)
					best[i] = min(best[i], time.Since(start))
				}
			}
			var sum time.Duration
			for _, d := range best {
				sum += d
			}
			b.ReportMetric(float64(size)/1e6/sum.Seconds(), "best-MB/s")
		})
	}
}

// BenchmarkScan validates rows and does nothing with them.
func BenchmarkScan(b *testing.B) {
	var s Scanner
	each(b, func(b *testing.B, line []byte) {
		if _, err := s.Scan(line); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkRead also takes out of every row what the typed reader of [BenchmarkPeer] takes.
func BenchmarkRead(b *testing.B) {
	var s Scanner
	sum := 0
	items := func(list Value) {
		for e := list.Elements(); e.Next(); {
			for m := e.Value.Members(); m.Next(); {
				switch string(m.Key) {
				case "type", "role", "name", "call_id", "status":
					sum += m.Value.Len()
				case "arguments", "output":
					inner, _ := m.Value.Escaped()
					sum += len(inner)
				case "prompt_token_ids", "generation_token_ids", "generation_log_probs":
					n, kinds := m.Value.Parts()
					if kinds.Within(Int, Float) {
						sum += n
					}
				}
			}
		}
	}
	each(b, func(b *testing.B, line []byte) {
		v, err := s.Scan(line)
		if err != nil {
			b.Fatal(err)
		}
		for m := v.Members(); m.Next(); {
			switch string(m.Key) {
			case "responses_create_params":
				items(m.Value.Get("input"))
			case "response":
				for r := m.Value.Members(); r.Next(); {
					switch string(r.Key) {
					case "id", "status":
						sum += r.Value.Len()
					case "output":
						items(r.Value)
					case "usage":
						n, _ := r.Value.Get("total_tokens").Integer()
						sum += int(n.Magnitude)
					}
				}
			case "reward":
				f, _ := m.Value.Float()
				sum += int(f)
			case "_ng_task_index", "_ng_rollout_index":
				n, _ := m.Value.Integer()
				sum += int(n.Magnitude)
			}
		}
	})
}

// BenchmarkWalk visits every part of every row after the scan.
func BenchmarkWalk(b *testing.B) {
	var s Scanner
	sum := 0
	each(b, func(b *testing.B, line []byte) {
		v, err := s.Scan(line)
		if err != nil {
			b.Fatal(err)
		}
		sum += visit(v)
	})
}

// visit counts the values inside and including v.
func visit(v Value) int {
	n := 1
	switch {
	case v.IsObject():
		for m := v.Members(); m.Next(); {
			n += visit(m.Value)
		}
	case v.IsArray():
		for e := v.Elements(); e.Next(); {
			n += visit(e.Value)
		}
	}
	return n
}

// BenchmarkPeer reads the same rows with the standard library into a typed struct.
func BenchmarkPeer(b *testing.B) {
	each(b, func(b *testing.B, line []byte) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkHostile walks everything in texts made to be slow, and asks every container for its height.
// None of them may be much slower than its neighbours.
func BenchmarkHostile(b *testing.B) {
	nest := func(open, between, close string, depth int) string {
		return strings.Repeat(open, depth) + between + strings.Repeat(close, depth)
	}
	many := func(unit string) string {
		return "[" + strings.Repeat(unit+",", 1+(1<<20)/len(unit)) + "0]"
	}
	for _, test := range []struct{ name, text string }{
		{"brackets", many(nest("[", "", "]", 1000))},
		{"tails", many(nest("[", "0", `,"`+strings.Repeat("x", 100)+`"]`, 1000))},
		{"objects", many(nest(`{"":`, "0", "}", 1000))},
		{"pairs", many(nest("[[],", "0", "]", 1000))},
		{"empty", many("[]")},
		{"escapes", many(`"` + strings.Repeat(`\n`, 1<<20) + `"`)},
		{"keys", many(`{"` + strings.Repeat("k", 1<<19) + `":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`)},
		{"spaces", many("[" + strings.Repeat(" ", 1<<20) + "]")},
		{"digits", many(strings.Repeat("9", 300) + "." + strings.Repeat("9", 1<<20))},
	} {
		b.Run(test.name, func(b *testing.B) {
			text := []byte(test.text)
			var s Scanner
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				v, err := s.Scan(text)
				if err != nil {
					b.Fatal(err)
				}
				climb(v)
			}
			b.ReportMetric(float64(cap(s.doc.marks)*20)/float64(len(text)), "tape-B/B")
		})
	}
}

// climb asks every value for its kind, height and parts.
func climb(v Value) int {
	n := v.Height() + int(v.Kind())
	v.Parts()
	switch {
	case v.IsObject():
		for m := v.Members(); m.Next(); {
			n += climb(m.Value)
		}
	case v.IsArray():
		for e := v.Elements(); e.Next(); {
			n += climb(e.Value)
		}
	}
	return n
}
