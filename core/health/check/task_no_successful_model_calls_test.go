package check

import "testing"

func TestNoSuccessfulCalls(t *testing.T) {
	for _, s := range []struct {
		unresolved, successful int
		want                   Outcome
	}{
		{0, 0, Fired}, {0, 1, Clean}, {1, 0, RepeatsIncomplete}, {1, 1, RepeatsIncomplete},
	} {
		r := Repeats{Unobserved: 2, Unresolved: s.unresolved, Successful: s.successful}
		if have := At(NoSuccessfulCalls).Tally(&r); have != s.want {
			t.Errorf("%+v: %s", s, have.Code())
		}
	}
}
