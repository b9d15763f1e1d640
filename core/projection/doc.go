// Package projection makes finished rows of raw results: what a collection does with a rollout once it has come back
// (spec trajectory §8.1).
//
// Its nouns: a *raw result* is a row without evidence of its own making. Its *input* is the row of the materialized
// inputs with the same task and rollout index. A *projected row* has the attachment of its captured calls, the joined
// observations, the trajectory put together from both, and the numbers of its performance. A row goes to one of two
// files, or nowhere ([Destination]).
//
//	p := projection.Projector{Inputs: inputs, Captures: captures}
//	row, to, err := p.Row(line)
//
// The package opens nothing: captures come from a [Captures] of the host.
package projection
