package check

// Repeats is what a task check sees: the repeats of one task by their verdict, and whether their model
// calls are known.
type Repeats struct {
	Healthy, Unhealthy, Unobserved int
	Unresolved                     int // repeats with a row whose turns do not resolve all their calls
	Successful                     int // repeats with a row that has a successful call of its turns
}

// Total is the number of repeats.
func (r *Repeats) Total() int { return r.Healthy + r.Unhealthy + r.Unobserved }
