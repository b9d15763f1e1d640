// Package value holds JSON values that outlive the line they were read from: the small documents of a run folder,
// values that a finding quotes, and rows that are held against each other.
//
// A Value is a tree whose integers and floats stay apart and whose integers are exact at any size (spec run-folder
// §4.1). It comes from a scanned span ([Of]), from a text that only the reference's more lenient readers accept
// ([Parse]), or is put together ([Text], [Int], [Object] …).
//
// Values are compared the way the reference's language does ([Equal]: 1, 1.0 and true are one value), asked for
// their truth ([Value.Truthy]), and written in the forms the files of a run have. A [Form] says how numbers and
// strings are written; digests need sorted keys and no white space ([Canonical], [Batch], [BatchOld], [Inner]),
// documents for people two spaces of indentation ([Value.AppendIndented]).
//
// A [Writer] gives the canonical text of a scanned span without building the tree, since the digest of a run's
// inputs covers every byte of them.
package value
