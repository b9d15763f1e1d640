package view

// Calls is the tab of that name: every model call of the run.
type Calls struct{}

var callsPane = pane{
	there: func(*Desk, *selection) bool { return false },
	show: func(_ *Desk, _ *selection, r *request) []Need {
		r.page.Calls = new(Calls)
		return nil
	},
}
