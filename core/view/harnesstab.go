package view

// Harness is the tab of that name: whether the harness leaves the evidence that training needs.
type Harness struct{}

var harnessPane = pane{
	there: func(*Desk, *selection) bool { return false },
	show: func(_ *Desk, _ *selection, r *request) []Need {
		r.page.Harness = new(Harness)
		return nil
	},
}
