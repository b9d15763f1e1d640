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
// [Redactor] first learns all rows and then writes them: a text, or a number, of eight or more characters that any
// rule has taken out anywhere is masked wherever it stands in what remains: inside longer texts, behind escapes, in
// JSON that is itself a text however deep, and as a number. A text that is JSON, such as the arguments of a tool, is
// taken out with the texts it holds. What is masked are whole texts: a part of one that was copied, another letter
// case or another encoding is not known.
//
// Names of members stay, since they are the form of rows, unless they are no plain names; those are texts like others.
//
//	r := redact.New(rules)
//	for … { r.Learn(line) }
//	for … { out, ok := r.Row(nil, line) }
//	r.Counts()                          // what every rule did
package redact
