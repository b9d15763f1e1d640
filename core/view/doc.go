// Package view turns tables and reports into what a person sees: plain values without markup.
//
// [State] is everything a person can set. URL fragment, query string, command flags and saved settings are
// encodings of it. A [Page] is everything a person sees for one State: shell, alerts, the body of one tab,
// numbers with stable names. The web package writes Pages as HTML, in the browser and on the server alike.
//
// Values are ready to show: numbers are texts with their exact form beside them, slices are never nil,
// a missing value is a dash with its reason.
//
// A [Desk] holds what is known about the files and makes Pages. It reads nothing: a host scans files and adds the
// partials, and where a Page needs the bytes of a row or of a small file it says so ([Need]), is given them and asked
// again.
//
//	tasks := desk.Open(files, false)          // what is to be scanned
//	desk.Add(partial)                         // what came of it
//	page, needs := desk.Page(state, host, nil)
//	desk.Supply(needs[0], bytes, "")
//
// Tabs, columns, keys, fields of the filter and panes are entries of tables, which help, documents and tests range over.
package view
