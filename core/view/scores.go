package view

// Scores is the tab of that name: rewards, pass@k, tasks, and what was left out.
type Scores struct{}

var scoresPane = pane{
	there: func(*Desk, *selection) bool { return false },
	show: func(_ *Desk, _ *selection, r *request) []Need {
		r.page.Scores = new(Scores)
		return nil
	},
}
