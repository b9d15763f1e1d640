// Package rollout reads one line of a rollouts file as a row: who it is (task, repeat, stage, rollout id),
// what it earned, and where its parts stand.
//
// A [Row] holds spans of the scanned line and dies with it. An [Identity] is what survives: a few dozen
// bytes that can be stored, sent between workers and merged. Defaults that depend on the whole run, such
// as the task index of a row that names none, stay symbolic in it until the row's ordinal is known
// ([Identity.Resolve]).
//
// A [Key] is a task or rollout index: a whole number or a text, never the one for the other. Identity
// rules follow spec health §4, the text form of values health appendix B, lines health §3.
package rollout
