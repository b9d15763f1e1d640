// Package rollout reads one line of a rollouts file as a row: who it is (task, repeat, stage, rollout id),
// what it earned, and where its parts stand.
//
// A [Row] holds spans of the scanned line and dies with it. An [Identity] is what survives: a few dozen
// bytes that can be stored, sent between workers and merged. Defaults that depend on the whole run, such
// as the task index of a row that names none, stay symbolic in it until the row's ordinal is known
// ([Identity.Resolve]).
//
//	var r rollout.Reader
//	lines := jsonl.NewSplitter(0)
//	lines.Feed(chunk, func(l *jsonl.Line) bool {
//		row := r.Read(l)
//		if row.Problem == nil {
//			id := row.Identity().Resolve(ordinal, 0, row.Line)
//			fmt.Println(id.ID, row.Facts().Reward)
//		}
//		return true
//	})
//
// A line that cannot be read is a row as well, with its Problem: it is counted, named and shown, and never dropped.
//
// A [Key] is a task or rollout index: a whole number or a text, never the one for the other. Identity
// rules follow spec health §4, the text form of values health appendix B, lines health §3.
package rollout
