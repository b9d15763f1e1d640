package rollout

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
)

// TestRecover reads the damaged cases: which lines are refused, and what the tolerant reading finds on them.
func TestRecover(t *testing.T) {
	tests := map[string][]string{ // line: records, task-repeat, reward: summary
		"01-bom-utf8/rollouts.jsonl": {"1: 1, 0-0, 1.0: byte-order mark skipped"},
		"06-invalid-utf8/rollouts.jsonl": {
			"2: 1, 0-1, 0.0: 2 bytes not UTF-8, shown as U+FFFD",
			"3: 1, 0-2, 0.0: 2 bytes not UTF-8, shown as U+FFFD",
			"4: 1, 0-3, 0.0: 6 bytes not UTF-8, shown as U+FFFD",
		},
		"07-lone-surrogate-escape/rollouts.jsonl": {
			"2: 1, 0-1, 1.0: 1 half surrogate shown as U+FFFD",
			"3: 1, 0-2, 1.0: 1 half surrogate shown as U+FFFD",
			"4: 1, 0-3, 1.0: 2 half surrogates shown as U+FFFD",
			"5: 1, 0-4, 1.0: 1 half surrogate shown as U+FFFD",
		},
		"09-nul-blocks/rollouts.jsonl": {
			"2: 1, 0-1, 0.0: 300 zero bytes left out",
			"3: 0, None-None, : ",
			"5 torn: 0, None-None, : ",
		},
		"13-nan-infinity-literals/rollouts.jsonl": {
			`2: 1, 0-1, "NaN": NaN or Infinity shown as text`,
			`3: 1, 0-2, "Infinity": NaN or Infinity shown as text`,
			`4: 1, 0-3, "-Infinity": NaN or Infinity shown as text`,
		},
		"14-number-edges/rollouts.jsonl": {
			`2: 1, 0-1, 1.0: 1 number out of range or misspelt, shown as text`,
			`3: 1, 0-2, 1.0: 1 number out of range or misspelt, shown as text`,
		},
		"18-deep-nesting/rollouts.jsonl": {
			"3: 1, 0-2, 1.0: 2 bytes nested deeper than 1024 levels left out",
			"4: 1, 0-3, 1.0: 15954 bytes nested deeper than 1024 levels left out",
		},
		"18-deep-nesting/bomb.jsonl": {
			"1: 0, None-None, : ",
			"2: 1, None-None, : shown up to where it is cut; 144880 bytes nested deeper than 1024 levels left out",
		},
		"19-glued-objects/rollouts.jsonl": {
			"1: 2, 0-0, 1.0: 2 records on one line",
			"3: 2, 1-1, 0.0: 2 records on one line",
		},
		"21-cut-last-line/a_rollouts.jsonl": {"3 torn: 1, 1-0, : shown up to where it is cut"},
		"21-cut-last-line/b_rollouts.jsonl": {"3 torn: 1, 1-0, : shown up to where it is cut"},
		"21-cut-last-line/c_rollouts.jsonl": nil,
		"21-cut-last-line/d_rollouts.jsonl": {"3: 1, 1-0, : shown up to where it is cut"},
	}
	for name, want := range tests {
		data, err := os.ReadFile(filepath.Join("../../testdata/cases", name))
		if err != nil {
			t.Fatal(err)
		}
		var r Reader
		var got []string
		emit := func(l *jsonl.Line) bool {
			if jsonl.Blank(l.Bytes) {
				return true
			}
			row := r.Read(l)
			if row.Problem == nil {
				return true
			}
			torn := ""
			if row.Torn {
				torn = " torn"
			}
			f := row.Facts()
			f.Recovered = r.Recover(l)
			v := &f.Recovered
			got = append(got, fmt.Sprintf("%d%s: %d, %s-%s, %s: %s", l.Number, torn, v.Records, v.Task, v.Rollout, v.Reward, v.Summary))
			stored, rest, err := ParseFacts(f.Append(nil))
			if err != nil || len(rest) != 0 || stored != f {
				t.Errorf("%s:%d: stored %+v, %v", name, l.Number, stored, err)
			}
			if row.Problem == nil || row.Identity().Task.kind != keyUnreadable {
				t.Errorf("%s:%d: the row has changed", name, l.Number)
			}
			return true
		}
		s := jsonl.NewSplitter(0)
		s.Feed(data, emit)
		s.Finish(emit)
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("%s:\n got\n%s\nwant\n%s", name, g, w)
		}
	}
}

func TestRecoverNothing(t *testing.T) {
	var r Reader
	for _, text := range []string{"", "hello", "[1,NaN]", "\x00\x00"} {
		if f := r.Recover(&jsonl.Line{Bytes: []byte(text), Length: int64(len(text))}); f.Exists() {
			t.Errorf("%q: %+v", text, f)
		}
	}
	if f := r.Recover(&jsonl.Line{Bytes: []byte("{"), Length: 1 << 40, TooLong: true}); f.Exists() {
		t.Errorf("too long: %+v", f)
	}
	long := append([]byte(`{"reward":"`), bytes.Repeat([]byte("x"), 1000)...)
	f := r.Recover(&jsonl.Line{Bytes: long, Length: int64(len(long))})
	if len(f.Reward) > longest+3 {
		t.Errorf("a reward of %d bytes is kept", len(f.Reward))
	}
	f = r.Recover(&jsonl.Line{Bytes: []byte(`{"_ng_task_index":1.5,"_ng_rollout_index":null,`)})
	if !f.Task.IsNone() || !f.Rollout.IsNone() {
		t.Errorf("odd indices: %+v", f)
	}
}
