package check

var recordUnreadable = Check{
	ID:      "record_unreadable",
	Scope:   Rollout,
	Subject: "record",
	Reads:   []string{"", "ng_trajectory"},
	Title:   "The row or its trajectory cannot be read",
	Text: "Either the line is not one JSON object, or its ng_trajectory breaks the schema of trajectories. A broken line is named by " +
		"file and physical line; it counts as a rollout of a task of its own, and every other check is unobserved on it. That " +
		"includes a cut last line, a byte-order mark, two objects on one line, NaN, and numbers beyond a double. With a broken " +
		"trajectory the row keeps its identity and its token counts, and the nine checks that read the trajectory are unobserved. " +
		"One wrong field is enough, anywhere in it. A trajectory that is null or absent is no error. Always judged.",
	Since: "0.7.0",
	Run:   runRecordUnreadable,
	Say: func(f *Finding) string {
		s := "the trajectory breaks its schema"
		if f.Get("reason").Text == phrases[phraseRecord] {
			s = "the line is no JSON"
			if f.Get("error").Text == "ValueError" {
				s = "the line is no object"
			}
		}
		if why := f.Get("why").Text; why != "" {
			s += ": " + why
		}
		return s
	},
}

func runRecordUnreadable(e *Evidence, f *Findings) Raised {
	switch {
	case e.Row.Problem != nil:
		p := e.Row.Problem
		at := rowSpot()
		at.offset = p.Offset - e.Row.Offset
		f.add(at)
		f.phrase(fieldReason, phraseRecord)
		f.words(fieldError, p.Class)
		f.words(fieldWhy, p.Reason)
	case e.Invalid != nil:
		at := spot{kind: spotPath, path: e.Invalid.Path, turn: -1, call: -1}
		if e.Invalid.Offset >= 0 {
			at.offset = e.Row.Lead + e.Invalid.Offset
		} else {
			at.at = e.Row.Trajectory
		}
		f.add(at)
		f.phrase(fieldReason, phraseTrajectory)
		f.words(fieldError, e.Invalid.Class)
		f.words(fieldWhy, e.Invalid.Reason)
	}
	return Finished
}
