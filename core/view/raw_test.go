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
		{`{"a" : [1, 2,{"b":"x\"}"}], "c":{}}`, `{|."a":[|..1,|..2,|..{|..."b":"x\"}"|..}|.],|."c":{}|}`},
		{`[["a","b"],[]]`, `[|.[|.."a",|.."b"|.],|.[]|]`},
		{`{"":null,"k":true}`, `{|."":null,|."k":true|}`},
	}
	for _, tt := range tests {
		var s jsonscan.Scanner
		v, err := s.Scan([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		o := NewOutline(v)
		var lines []string
		for _, l := range o.Window(0, 100, lookAt{hit: -1, line: -1}) {
			line := strings.Repeat(".", l.Depth)
			if l.Key != "" {
				line += l.Key + ":"
			}
			line += l.Text
			if l.Comma {
				line += ","
			}
			lines = append(lines, line)
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

// TestOutlineText keeps the lines of a text that is no JSON.
func TestOutlineText(t *testing.T) {
	o := NewTextOutline([]byte("data: {\"a\":1}\r\n\r\ndata: [DONE],\n"))
	var lines []string
	for _, l := range o.Window(0, 10, lookAt{hit: -1, line: -1}) {
		lines = append(lines, l.Text)
	}
	if got := strings.Join(lines, "|"); got != `data: {"a":1}||data: [DONE],|` {
		t.Error(got)
	}
	if NewTextOutline(nil).Len() != 1 {
		t.Error("an empty text has no line")
	}
}

// TestSearch finds texts in keys and values, and shows the part of a long value that holds one.
func TestSearch(t *testing.T) {
	var s jsonscan.Scanner
	v, err := s.Scan([]byte(`{"Needle":1,"b":"` + strings.Repeat("é", 5000) + `needle needle` + strings.Repeat("x", 5000) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	o := NewOutline(v)
	found := o.Search("NEEDLE")
	if len(found.at) != 3 || o.LineAt(found.at[0]) != 1 || o.LineAt(found.at[2]) != 2 {
		t.Fatalf("%v", found.at)
	}
	lines := o.Window(0, 10, lookAt{search: found, hit: 2, line: 2})
	if len(lines[1].KeyHits) != 1 || lines[1].Key[lines[1].KeyHits[0].From:lines[1].KeyHits[0].To] != "Needle" {
		t.Errorf("%+v", lines[1])
	}
	long := lines[2]
	if len(long.Hits) != 2 || long.Text[long.Hits[1].From:long.Hits[1].To] != "needle" || !long.Hits[1].Now || long.Hits[0].Now || !long.Current {
		t.Errorf("%+v", long.Hits)
	}
	if shown := long.Before + len([]rune(long.Text)) + long.Folded; shown != 10015 || long.Before == 0 {
		t.Errorf("%d before, %d behind, %d in all", long.Before, long.Folded, shown)
	}
	for _, text := range []string{"", "nowhere", strings.Repeat("x", 20000)} {
		if n := len(o.Search(text).at); n != 0 {
			t.Errorf("%.20q is found %d times", text, n)
		}
	}
}
