package view

// Performance is the tab of that name: latency, tokens, throughput, the slowest rollouts.
type Performance struct{}

var performancePane = pane{
	there: func(*Desk, *selection) bool { return false },
	show: func(_ *Desk, _ *selection, r *request) []Need {
		r.page.Performance = new(Performance)
		return nil
	},
}
