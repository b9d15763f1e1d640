package check

var consistentlyUnhealthy = Check{
	ID:      "task_consistently_unhealthy",
	Scope:   Task,
	Subject: "task",
	Needs:   []Need{NeedRepeats},
	Reads:   []string{"_ng_task_index", "_ng_rollout_index"},
	Title:   "Every repeat of the task is unhealthy",
	Text: "Of the repeats that have a verdict, all are unhealthy. A repeat is one rollout index of the task; rows of other stages belong to it, " +
		"and if the rows of a repeat have different verdicts it counts as unobserved. At least two repeats must be healthy or unhealthy, " +
		"otherwise the check is unobserved for the task. The flag changes no verdict.",
	Since: "0.7.0",
	Tally: func(r *Repeats) Outcome {
		switch {
		case r.Healthy+r.Unhealthy < 2:
			return FewRepeats
		case r.Healthy == 0:
			return Fired
		}
		return Clean
	},
}
