package view

// Compare is the tab of that name: one run against another.
type Compare struct{}

func joinPath(State) (*Question, string) { return nil, "" }

var comparePane = pane{
	there: func(*Desk, *selection) bool { return false },
	show: func(_ *Desk, _ *selection, r *request) []Need {
		r.page.Compare = new(Compare)
		return nil
	},
}
