package view

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/view/filter"
)

// number is a row of one field.
type number string

func (n number) Field(string) filter.Value       { return numberValue(string(n)) }
func (n number) Inside(*filter.Ref) filter.Value { return filter.Value{} }

func doubles(texts []string) []float64 {
	var list []float64
	for _, s := range texts {
		list = append(list, double(s))
	}
	return list
}

// A bin shows exactly the rows that its link leaves, and every number is in one.
func checkBins(t *testing.T, name string, texts []string, whole bool) []bin {
	t.Helper()
	bins := binned(slices.Values(doubles(texts)), whole)
	fields := filter.Fields{{Name: "x"}}
	sum, numbers := 0, 0
	for _, s := range texts {
		if !math.IsNaN(double(s)) {
			numbers++
		}
	}
	for i, b := range bins {
		sum += b.n
		f, err := filter.Parse(b.term("x"), fields)
		if err != nil {
			t.Fatalf("%s: %s: %v", name, b.term("x"), err)
		}
		n := 0
		for _, s := range texts {
			if f.Match(number(s)) {
				n++
			}
		}
		if n != b.n {
			t.Errorf("%s: bin %d %s has %d, its filter %s finds %d", name, i, b.name(), b.n, b.term("x"), n)
		}
		if i > 0 && b.from < bins[i-1].below {
			t.Errorf("%s: bin %d begins at %v, the one before ends at %v", name, i, b.from, bins[i-1].below)
		}
	}
	if sum != numbers {
		t.Errorf("%s: bins hold %d of %d numbers", name, sum, numbers)
	}
	if len(bins) > mostBins+3 {
		t.Errorf("%s: %d bins", name, len(bins))
	}
	return bins
}

func TestBins(t *testing.T) {
	repeat := func(s string, n int) []string { return slices.Repeat([]string{s}, n) }
	spread := func(n int, f func(int) any) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint(f(i)))
		}
		return list
	}
	for _, c := range []struct {
		name  string
		texts []string
		whole bool
		want  string // labels, where they are few
	}{
		{"none", nil, true, ""},
		{"no numbers", []string{"", "null", `"1"`, "true", "[]"}, false, ""},
		{"one value", repeat("1.0", 9), false, "1"},
		{"rewards", append(repeat("0.0", 3), repeat("1", 4)...), false, "0 1"},
		{"minus zero", []string{"-0.0", "0", "0.0"}, false, "0"},
		{"few wide apart", []string{"88", "107", "1000000"}, false, "88 107 1M"},
		{"close whole numbers", []string{"2", "5"}, true, "2 3 4 5"},
		{"thirds", []string{"0.3333333333333333", "0.6666666666666666", "1", "0"}, false, "0 0.333 0.667 1"},
		{"a range", spread(500, func(i int) any { return i }), true, ""},
		{"tenths", spread(101, func(i int) any { return float64(i) / 100 }), false, ""},
		{"negative", spread(300, func(i int) any { return i - 150 }), true, ""},
		{"a long tail", append(spread(2000, func(i int) any { return i % 50 }), "90000", "1200000"), true, ""},
		{"beyond doubles", append(spread(40, func(i int) any { return i }), strings.Repeat("9", 400), "9007199254740993", "-"+strings.Repeat("9", 400)), true, ""},
		{"only beyond", []string{"9007199254740993", "9007199254740995", "9007199254740992"}, true, ""},
		{"tiny", spread(40, func(i int) any { return float64(i) * 5e-324 }), false, ""},
		{"huge", spread(40, func(i int) any { return float64(i) * 1e300 }), false, ""},
		{"mixed", append(spread(30, func(i int) any { return float64(i) * 0.1 }), "", `"x"`, "null"), false, ""},
	} {
		bins := checkBins(t, c.name, c.texts, c.whole)
		var labels []string
		for _, b := range bins {
			labels = append(labels, b.label())
		}
		if got := strings.Join(labels, " "); c.want != "" && got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestBinsOfRandomNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		scale := math.Pow(10, float64(r.IntN(24)-8))
		whole := r.IntN(2) == 0
		var texts []string
		for range r.IntN(200) + 1 {
			f := (r.Float64() - 0.3) * scale
			if r.IntN(20) == 0 {
				f *= 1000
			}
			if whole {
				f = math.Trunc(f)
			}
			texts = append(texts, fmt.Sprint(number64(f)))
		}
		checkBins(t, fmt.Sprint(round), texts, whole)
	}
}

func TestBorderText(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.1: "0.1", 999: "999", 1000: "1k", 1500: "1.5k", 1250000: "1.25M", 1234567: "1,234,567", -2000: "-2k", 2e9: "2G", 0.30000000000000004: "0.30000000000000004"} {
		if got := borderText(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if got := round(3 * 0.1); got != 0.3 {
		t.Error(got)
	}
	for f, want := range map[float64]float64{0.7: 1, 1: 1, 1.2: 2, 3: 5, 7: 10, 0: 1, 0.00031: 0.0005, -4: 1} {
		if got := stepOf(f, false); got != want {
			t.Errorf("step of %v: %v, want %v", f, got, want)
		}
	}
}
