// Package filter is the language in which a person says which rollouts to look at. The page and the command line
// share it; docs/filter.md is its manual.
//
//	check:model_call_failed agent:opencode reward=0
//	0 < reward <= 1 and not (masked or row.response.usage.total_tokens > 100000)
//
// Its nouns: a [Field] is a name the caller can give a value for, or a path into the row as it is in the file. A
// *condition* compares a field with values. A [Filter] is a list of conditions that must all be met, each of which
// is a [Chip] on the page; text and chips are two forms of one value, since a filter prints itself and what it
// prints reads back as the same filter.
//
// A [Value] is missing, a bool, an exact number, a text or a list of them. Truth has two values: a comparison with
// something missing is not met, so "not" in front of it is, and has(x) asks. This is less surprising in a list of
// rows than a third value that no row is shown for.
//
// Lists inside rows are asked about by any, all and count, regular expressions by matches; numbers can be calculated
// with. What reads the row as it is in its file needs a [Look] at it, and of a list only the outcome is kept.
//
// Texts live in links and scripts, so the language only grows: words that later versions may want (like, between, …)
// are refused today instead of meaning something by accident. And they come from anywhere, so that nesting, calculations,
// lists and the steps of regular expressions are bounded: no filter takes more than a time that grows with the row.
package filter
