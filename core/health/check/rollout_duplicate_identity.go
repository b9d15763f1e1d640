package check

import "fmt"

var duplicateIdentity = Check{
	ID:      "rollout_duplicate_identity",
	Scope:   Rollout,
	Subject: "rollout",
	Needs:   []Need{NeedRow},
	Reads:   []string{"_ng_task_index", "_ng_rollout_index", "stage_index"},
	Title:   "Several rows have the same identity",
	Text: "Rows of all files together are grouped by stage, task and rollout index. In a group of two or more every row gets the " +
		"finding, with the size of the group, and is unhealthy. Indices are compared after coercion: true is 1, 1.0 is 1, and the " +
		"number 7 is not the text \"7\". A row without a task index takes its position in the run as one, so it can collide with a " +
		"row that states that number. No stage is a value of its own. This is known only when all rows are in. On a line that " +
		"cannot be read the check counts as unobserved.",
	Since: "0.7.0",
	// It depends on all rows, so the reduction adds its findings.
	Run: func(*Evidence, *Findings) Raised { return Finished },
	Say: func(f *Finding) string {
		return fmt.Sprintf("%s rows share this task, rollout and stage index", f.Get("duplicate_count"))
	},
}
