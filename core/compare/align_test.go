package compare

import (
	"math"
	"testing"

	"github.com/rollscope/rollscope/core/metrics"
)

func scores(t *testing.T, text string) *metrics.Scores {
	t.Helper()
	_, run := derivedEntries(t, text)
	return run.Scores(metrics.ScoreOptions{})
}

func TestAlign(t *testing.T) {
	base := scores(t, rewardRows("a", []float64{1, 1}, []float64{0, 1}, []float64{0, 0}, []float64{1, 1}, []float64{1}))
	cand := scores(t, rewardRows("b", []float64{0, 0}, []float64{1, 1}, []float64{1, 1}, []float64{1, 1}))
	a := Align(base, cand, ByIndex)
	if a.Mode != Binary || len(a.Pairs) != 4 || a.Counts[ToFail] != 1 || a.Counts[ToPass] != 1 || a.Counts[Tied] != 1 || a.Counts[Same] != 1 {
		t.Fatalf("%+v", a)
	}
	if p := a.Pairs[0]; p.Move != ToFail || p.Key != "0" || p.Delta.X != -1 || len(p.Baseline.Rows) != 2 {
		t.Errorf("%+v", p)
	}
	if len(a.BaselineOnly) != 1 || a.BaselineOnly[0].Task.String() != "4" || len(a.CandidateOnly) != 0 {
		t.Errorf("%+v", a)
	}
	// Deltas −1, 0.5, 1, 0.
	if d := a.Difference; d.N != 4 || d.Mean != 0.125 || math.Abs(d.High-d.Mean-3.1824463052837078*math.Sqrt(2.1875/3)/2) > 1e-9 {
		t.Errorf("%+v", d)
	}
	if a := Align(base, cand, ByIndexAndGroup); len(a.Pairs) != 0 || len(a.BaselineOnly) != 5 || len(a.CandidateOnly) != 4 || a.Mode != Unavailable || a.Difference.N != 0 {
		t.Errorf("%+v", a)
	}
}

func TestAlignContinuousAndAmbiguous(t *testing.T) {
	base := scores(t, rewardRows("a", []float64{0.5}, []float64{0.25}, []float64{0.1})+rewardRows("b", []float64{1}))
	cand := scores(t, rewardRows("a", []float64{0.4}, []float64{0.75}, []float64{0.1}))
	a := Align(base, cand, ByIndex)
	if a.Mode != Continuous || len(a.Ambiguous) != 1 || a.Ambiguous[0] != "0" || a.Counts[Higher] != 1 || a.Counts[Same] != 1 {
		t.Errorf("%+v", a)
	}
	named := func(task *metrics.TaskScore) (string, bool) { return task.Group, task.Task.String() == "0" }
	if a := Align(base, cand, named); a.Unnamed != 4 || len(a.Pairs) != 1 || a.Counts[Lower] != 1 || len(a.BaselineOnly) != 1 {
		t.Errorf("%+v", a)
	}
}

func TestWelch(t *testing.T) {
	if _, _, ok := Welch([]float64{1}, []float64{1, 2}); ok {
		t.Error("one value has no spread")
	}
	if low, high, ok := Welch([]float64{1, 1}, []float64{3, 3, 3}); !ok || low != 2 || high != 2 {
		t.Errorf("no spread: %v, %v, %t", low, high, ok)
	}
}
