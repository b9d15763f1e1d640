package view

import (
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
)

func TestOutline(t *testing.T) {
	tests := []struct{ text, want string }{
		{`1`, "1"},
		{` {} `, "{}"},
		{`[ ]`, "[ ]"},
		{`{"a":1}`, "{|.\"a\":1|}"},
		{`{"a" : [1, 2,{"b":"x\"}"}], "c":{}}`, `{|."a":[|..1|..2|..{|..."b":"x\"}"|..}|.]|."c":{}|}`},
		{`[["a","b"],[]]`, `[|.[|.."a"|.."b"|.]|.[]|]`},
		{`{"":null,"k":true}`, `{|."":null|."k":true|}`},
	}
	for _, tt := range tests {
		var s jsonscan.Scanner
		v, err := s.Scan([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		o := NewOutline(v)
		var lines []string
		for _, l := range o.Window(0, 100, nil) {
			line := strings.Repeat(".", l.Depth)
			if l.Key != "" {
				line += l.Key + ":"
			}
			lines = append(lines, line+l.Text)
		}
		if got := strings.Join(lines, "|"); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestOutlineFolds(t *testing.T) {
	var s jsonscan.Scanner
	v, err := s.Scan([]byte(`["` + strings.Repeat("é", 3000) + `"]`))
	if err != nil {
		t.Fatal(err)
	}
	line := NewOutline(v).Line(1)
	if shown := len([]rune(line.Text)); shown+line.Folded != 3002 {
		t.Errorf("%d characters shown and %d folded", shown, line.Folded)
	}
}
