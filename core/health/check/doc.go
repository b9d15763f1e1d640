// Package check holds the checks of rollout health: what each one asks, which evidence it needs, and the
// rule itself.
//
// A [Check] is a value. It has an id, a scope (one rollout, or all repeats of a task), a subject, the
// needs whose absence leaves it unobserved, the paths it reads, words for people and a pure function. The
// command line, the page and the documents print from the value, [Validate] holds the registry to its own
// contract, and [All] gives the order in which reports list everything.
//
// The nouns on the way from a row to its findings:
//
//   - [Evidence] is what a row offers: its trajectory if that is valid, model calls with their state,
//     turns with what they hold, gaps, and two views ([View]) of which calls the transcript refers to. Only
//     explicit references bind a call; position, time and likeness never do.
//   - A [Need] is a piece of evidence. Where one is missing, the check is unobserved and its [Outcome]
//     says why.
//   - A [Finding] carries evidence, never a verdict: locator, detail, and its [Place] in the row. Words
//     are put on it once, at the edge, by [Sentence].
//   - A [Judgement] runs all rollout checks over one row, for every [Profile] at once.
//
// One file holds one check, its cases are in the test file of the same name. The rules follow spec health
// §6–9 and the deltas M3 and M4 of §16.
package check
