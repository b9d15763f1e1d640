// Package analysis carries rows through the mappers and brings their digests together.
//
// The way is map, group, reduce. A [Scan] takes the bytes of one range of one source in order and turns
// every line into a digest: place, identity, facts and one section per mapper. What it has is taken from
// it as a [Partial], a compact value that can be sent between workers and machines. Partials come together
// in a [Table], in any order of arrival; its rows stand in the order of the sources and lines, and reports
// are reductions over them.
//
// Ranges may be cut anywhere. A line belongs to the range that holds its first byte, so a scan reads on
// behind its range to the end of its last line, and any split gives the same rows. What depends on the
// whole run, such as the number of a line in its file or the ordinal of a row, is symbolic in a Partial
// and known in the Table.
//
// Accounting is exact (spec health §3): read + blank + unreadable = lines, and their bytes add up to the
// bytes of the source.
//
//	table, err := analysis.Read(ctx, sources, analysis.Options{Workers: 4})
//	table.Each(0, func(row *analysis.Row) bool {
//		d, err := row.Digest()
//		return reducer.Add(&health.Row{Line: row.Line, Ordinal: row.Ordinal, Identity: d.Identity, Digest: d.Health}) == nil
//	})
package analysis
