package check

import "testing"

func TestConsistentlyUnhealthy(t *testing.T) {
	for _, s := range []struct {
		healthy, unhealthy, unobserved int
		want                           Outcome
	}{
		{0, 0, 0, FewRepeats}, {1, 0, 5, FewRepeats}, {0, 1, 5, FewRepeats}, {0, 2, 0, Fired}, {0, 2, 9, Fired},
		{1, 1, 0, Clean}, {2, 0, 0, Clean}, {1, 7, 3, Clean},
	} {
		r := Repeats{Healthy: s.healthy, Unhealthy: s.unhealthy, Unobserved: s.unobserved, Unresolved: 3}
		if have := At(ConsistentlyUnhealthy).Tally(&r); have != s.want {
			t.Errorf("%+v: %s", s, have.Code())
		}
	}
}
