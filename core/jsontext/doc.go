// Package jsontext writes the small parts of JSON text, strings and floats, the way the files of a run
// have them. Reading is the business of core/jsonscan.
//
// The reference writes with more than one serialiser, so that there are two forms of strings and two of
// floats:
//
//	                         strings                       floats
//	reports, digests         [AppendQuoted]                [AppendRepr]
//	batch dataset digest     [AppendQuoted]                [AppendFloat], [AppendOldFloat]
//	manifest, coverage       [AppendQuotedASCII]           [AppendRepr]
//
// (spec health §14, recovery §3, batch-status §3, run-folder §4.5). All functions append to dst and
// return it. Integers need no help: strconv.AppendInt and AppendUint write them.
package jsontext
