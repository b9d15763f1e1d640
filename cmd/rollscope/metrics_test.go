package main

import (
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
)

func TestCutCR(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"a", []string{"a"}}, {"a\r", []string{"a"}}, {"a\rb", []string{"a", "b"}}, {"a\rb\r", []string{"a", "b"}},
		{"a\r\r", []string{"a", ""}}, {"", []string{""}}, {"\r", []string{""}}, {"\ra", []string{"", "a"}},
	} {
		var have []string
		cutCR(&jsonl.Line{Offset: 7, Bytes: []byte(test.text), Length: int64(len(test.text)), Terminated: true}, func(l *jsonl.Line) bool {
			if from := l.Offset - 7; test.text[from:from+l.Length] != string(l.Bytes) {
				t.Errorf("%q: part %q at %d", test.text, l.Bytes, l.Offset)
			}
			have = append(have, string(l.Bytes))
			return true
		})
		if len(have) != len(test.want) {
			t.Errorf("%q: %q, want %q", test.text, have, test.want)
			continue
		}
		for i := range have {
			if have[i] != test.want[i] {
				t.Errorf("%q: %q, want %q", test.text, have, test.want)
			}
		}
	}
}

func TestStems(t *testing.T) {
	for path, want := range map[string]string{
		"a.b.jsonl": "a.b", "dir.x/rollouts.jsonl": "dir.x/rollouts", "dir/none": "dir/none", ".hidden": ".hidden", "dot.": "dot.",
	} {
		if have := stem(path); have != want {
			t.Errorf("%s: %s, want %s", path, have, want)
		}
	}
	for path, want := range map[string]string{
		"a/b.jsonl": "a", "rollouts.jsonl": "rollouts", "./x.jsonl": "x", "../x.jsonl": "..", "/x.jsonl": "x", "a/b/c.jsonl": "b",
	} {
		if have := runLabel(path); have != want {
			t.Errorf("label of %s: %s, want %s", path, have, want)
		}
	}
}
