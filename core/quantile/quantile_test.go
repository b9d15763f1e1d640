package quantile

import "testing"

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		rule func([]float64, float64) float64
		list []float64
		q    float64
		want float64
	}{
		{Tracked, []float64{30, 60, 120}, .5, 60}, {Tracked, []float64{30, 60, 120}, .75, 90}, {Tracked, []float64{30, 60, 120}, .9, 108},
		{Tracked, []float64{30, 60, 120}, .99, 118.8},
		{Tracked, []float64{30, 60, 120, 300, 600}, .5, 120}, {Tracked, []float64{30, 60, 120, 300, 600}, .75, 300},
		{Tracked, []float64{30, 60, 120, 300, 600}, .9, 480}, {Tracked, []float64{30, 60, 120, 300, 600}, .99, 588},
		{Tracked, []float64{.1, .2, .3}, .75, .25}, {Tracked, []float64{.1, .2, .3}, .9, 0.27999999999999997}, {Tracked, []float64{.1, .2, .3}, .99, .298},
		{Tracked, []float64{4}, .99, 4},
		{Nearer, []float64{1, 2, 2, 3, 5, 8, 13}, .9, 10.000000000000002},
		{Nearer, []float64{.1, .2, .3, .7}, .5, .25}, {Nearer, []float64{.1, .2, .3, .7}, .9, 0.5800000000000001}, {Nearer, []float64{.1, .2, .3, .7}, .99, 0.6879999999999998},
		{Nearer, []float64{1000.5, 2000}, .5, 1500.25}, {Nearer, []float64{1000.5, 2000}, .9, 1900.05},
		{Nearer, []float64{4}, .9, 4},
	} {
		if got := tt.rule(tt.list, tt.q); got != tt.want {
			t.Errorf("%v at %v: %v, want %v", tt.list, tt.q, got, tt.want)
		}
	}
	s := SpreadOf([]float64{600, 30, 120, 300, 60})
	if s.N != 5 || s.Min != 30 || s.Max != 600 || s.Mean != 222 || s.ByTracker[1] != 300 {
		t.Errorf("%+v", s)
	}
	if s := SpreadOf(nil); s.N != 0 {
		t.Errorf("%+v", s)
	}
}
