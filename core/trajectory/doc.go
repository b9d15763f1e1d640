// Package trajectory reads and validates `ng_trajectory`, the record of what an agent did: its
// invocations, turns, model calls, tool calls and the gaps in that evidence.
//
// The schema and its lax coercions follow spec trajectory §2–4 and health §5 with appendix A. They are
// held as data (tables of fields) and walked by one validator over the spans of the scanned row, so
// nothing is copied that need not be and nothing is parsed twice.
//
//	var reader trajectory.Reader
//	record, err := reader.Read(row.Trajectory)
//
// Strings of a record are pieces of the row as far as possible; numbers and bools come coerced. What a
// conversation, a question or a response holds is validated and left where it stands.
//
// An error is always an [*Invalid]. It names the class of failure the reference reports
// (ValidationError, TypeError or ValueError), the place inside the trajectory and a reason for people.
package trajectory
