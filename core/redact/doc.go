// Package redact takes what nobody else should see out of rows before they are handed on.
//
// Its nouns: a *rule* is an action and a path; [Rules] are read from a text, one rule a line or separated by
// semicolons, with comments behind #. The actions are keep, length (a text becomes as many x as it had characters,
// so that lengths stay and words do not; numbers and truth values become null) and drop (a member goes, an element
// becomes null so that the others keep their places). A path is names joined by dots; * is any member or element,
// ** any number of levels, "odd names" stand in quotes, and row. may stand in front as it does in filters. A rule
// holds for everything below its path, and of all rules that hold for a value the last decides.
//
//	drop responses_create_params
//	length response.output.**          # how much was said, not what
//	keep response.output.*.type
//
// A text that is taken out of one place may stand in others: a prompt is repeated by every model call. So a
// [Redactor] first learns all rows and then writes them: a text of eight or more characters that any rule has taken
// out anywhere is masked wherever it stands in what remains, inside longer texts and behind escapes too. Names of
// members stay, unless they hold such a text and are no plain names.
//
//	r := redact.New(rules)
//	for … { r.Learn(line) }
//	for … { out, ok := r.Row(nil, line) }
//	r.Counts()                          // what every rule did
package redact
