package metrics

import (
	"math"
	"testing"
)

func TestTQuantile(t *testing.T) {
	for _, test := range []struct{ df, t float64 }{
		{1, 12.706204736174694}, {8, 2.306004135204166}, {15, 2.131449545559776}, {2, 4.302652729749462},
		{9, 2.262157162798205}, {19, 2.0930240544083087}, {3, 3.1824463052837078}, {10, 2.228138851986274},
		{29, 2.045229642132703}, {4, 2.7764451051977934}, {11, 2.200985160091639}, {60, 2.0002978220142604},
		{5, 2.5705818356363146}, {12, 2.1788128296672284}, {99, 1.9842169515864174}, {6, 2.4469118511449786},
		{13, 2.1603686564627913}, {1000, 1.9623390808264083}, {7, 2.364624251592784}, {14, 2.144786687917804},
		{1.5, 6.016663104427929},
	} {
		if have := TQuantile(test.df); math.Abs(have-test.t) > 1e-12*test.t {
			t.Errorf("TQuantile(%v) = %v, want %v (off by %.1e)", test.df, have, test.t, have/test.t-1)
		}
	}
	if have := TQuantile(math.Inf(1)); math.Abs(have-1.959963984540054) > 1e-12 {
		t.Errorf("TQuantile(infinity) = %v", have)
	}
	for _, df := range []float64{0, -1, math.NaN()} {
		if have := TQuantile(df); !math.IsNaN(have) {
			t.Errorf("TQuantile(%v) = %v", df, have)
		}
	}
	last := math.Inf(1)
	for df := 0.125; df < 1e12; df *= 1.25 {
		have := TQuantile(df)
		if !(have <= last && have > 1.959963984540053) {
			t.Errorf("TQuantile(%v) = %v behind %v", df, have, last)
		}
		last = have
	}
}
