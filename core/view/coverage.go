package view

// Coverage is the tab of that name: what became of every rollout that was asked for.
type Coverage struct{}

var coveragePane = pane{
	there: func(*Desk, *selection) bool { return false },
	show: func(_ *Desk, _ *selection, r *request) []Need {
		r.page.Coverage = new(Coverage)
		return nil
	},
}
