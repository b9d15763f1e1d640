package metrics

import (
	"math"
	"testing"
)

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func scoresOf(tasks ...[]float64) [][]RolloutScore {
	list := make([][]RolloutScore, len(tasks))
	for i, t := range tasks {
		for _, x := range t {
			list[i] = append(list[i], RolloutScore{Value: x})
		}
	}
	return list
}

func checkMetrics(t *testing.T, have []Metric, want map[string]float64) {
	t.Helper()
	for name, x := range want {
		if n, ok := Find(have, name); !ok || !near(n.Float(), x) {
			t.Errorf("%s = %v (%t), want %v", name, n, ok, x)
		}
	}
}

func TestPassK(t *testing.T) {
	p := NewPassK(scoresOf([]float64{1, 0, 0, 1}, []float64{0, 0, 0, 0}, []float64{1, 1}), false)
	all := append(append([]Metric{}, p.Metrics...), p.Spread...)
	checkMetrics(t, all, map[string]float64{
		"pass@1/accuracy": 50, "pass@1[avg-of-1]/accuracy": 66.66666666666667,
		"pass@2/accuracy": 61.111111111111114, "pass@1[avg-of-2]/accuracy": 50,
		"pass@3/accuracy": 50, "pass@1[avg-of-3]/accuracy": 44.44444444444444, "pass@4/accuracy": 50,
		"pass@1[avg-of-2]/accuracy/std_dev_across_runs": 23.570226039551585,
		"pass@1[avg-of-2]/accuracy/std_err_across_runs": 16.666666666666668,
		"pass@1[avg-of-4]/accuracy/std_dev_across_runs": 28.46375212766555,
		"pass@1[avg-of-4]/accuracy/std_err_across_runs": 14.231876063832775,
		"pass@1[avg-of-2]/accuracy/avg_sample_std_dev":  0.23570226039551587,
	})
	if len(all) != 4*2+3*3 {
		t.Errorf("%d metrics: %v", len(all), all)
	}
	for i, want := range []float64{66.66666666666667, 33.333333333333336, 0, 50} {
		if have := p.PerSample[0].Values[i]; !near(have, want) {
			t.Errorf("position %d: %v, want %v", i, have, want)
		}
	}
	if p.Curve[2].Tasks != 2 || p.Curve[1].Tasks != 3 {
		t.Errorf("tasks: %+v", p.Curve)
	}
	if h := p.Highest; len(h[0].Metrics) != 1 || h[0].Metrics[0].Name != "pass@4/accuracy" || len(h[2].Metrics) != 0 {
		t.Errorf("highest: %+v", h)
	}
}

func TestPassKAnswers(t *testing.T) {
	a := func(x float64, answer string) RolloutScore { return RolloutScore{x, answer != "", answer} }
	p := NewPassK([][]RolloutScore{{a(1, "A"), a(0, "B"), a(0, "")}, {a(0, ""), a(1, "C"), a(1, "C")}}, true)
	checkMetrics(t, p.Metrics, map[string]float64{
		"majority@1/accuracy": 50, "majority@2/accuracy": 75, "majority@3/accuracy": 75,
		"pass@2/no_answer": 66.66666666666667, "pass@1[avg-of-2]/no_answer": 25,
	})
}

func TestPassKContinuous(t *testing.T) {
	p := NewPassK(scoresOf([]float64{0.5, 0.75, 0.1}), false)
	checkMetrics(t, p.Metrics, map[string]float64{
		"pass@1/accuracy": 50, "pass@2/accuracy": 75, "pass@3/accuracy": 75, "pass@1[avg-of-3]/accuracy": 45,
	})
}

func TestPassKOfOneLongTask(t *testing.T) {
	long := make([]float64, 50_000)
	for i := range long {
		long[i] = float64(i % 2)
	}
	p := NewPassK(scoresOf(long, []float64{1}, []float64{0}), false)
	if p.MaxK != len(long) || p.Curve[len(long)-1].Tasks != 1 || !near(p.Curve[len(long)-1].Avg, 50) {
		t.Errorf("%d: %+v", p.MaxK, p.Curve[len(long)-1])
	}
	empty := NewPassK(nil, false)
	if empty.MaxK != 0 || len(empty.Curve) != 0 {
		t.Errorf("no tasks: %+v", empty)
	}
}
