// Package report writes what the page shows as documents that are read without it.
//
// Its nouns: a [Document] is a title, a few sentences and sections ([Section]), each with a main number, lines and tables; it is
// written as Markdown or as one HTML file that runs nothing and loads nothing. [Overview] makes one out of the pages
// of a desk, so a document says what the page says. A [Finding] is one finding of a check or about a file, with its
// place; a list of them is written as Markdown or as SARIF 2.1.0, which code hosts and editors read.
//
//	d := report.Overview(pages, audited)
//	d.WriteMarkdown(w)
//	report.WriteSARIF(w, "Rollscope", "1.2.0", findings)
//
// Texts come from files that nobody vouches for. They are escaped for the form they are written in, and characters
// that steer terminals or the direction of writing are written as their number.
package report
