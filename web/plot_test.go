package web

import (
	"testing"

	"github.com/rollscope/rollscope/core/view"
)

// TestCurveNames keeps the names of curves that end at the same place from lying on each other.
func TestCurveNames(t *testing.T) {
	curve := func(y float64) view.Curve { return view.Curve{Points: []view.PlotPoint{{X: 1, Y: y}}} }
	p := plotting{view.Plot{Curves: []view.Curve{curve(50), curve(50), {}, curve(51), curve(0)}}, 100}
	p.Y.High = 100
	got := p.names()
	for i, a := range got {
		for j, b := range got[:i] {
			if d := a - b; d > -12 && d < 12 {
				t.Errorf("names %d and %d stand at %v and %v", j, i, b, a)
			}
		}
	}
}

// TestClipped cuts labels; numbers keep a value.
func TestClipped(t *testing.T) {
	for _, c := range []struct {
		label string
		most  int
		want  string
	}{
		{"-0.3333333333333333", 5, "-0.33"},
		{"+0.6666666666666666", 5, "+0.67"},
		{"1.8327", 8, "1.8327"},
		{"1.83274920000001", 8, "1.832749"},
		{"-0.000012345", 5, "-0.0…"},
		{"123456789", 5, "1234…"},
		{"250.5+", 5, "250.…"},
		{"1e-30000", 5, "1e-3…"},
		{"...........", 5, "....…"},
		{"terminus_2", 5, "term…"},
		{"", 5, ""},
	} {
		if got := clipped(c.label, c.most); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.label, c.most, got, c.want)
		}
	}
}
