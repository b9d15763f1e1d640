// Package server hands the page to browsers, and the bytes of runs to the page.
//
// Its nouns: a [Site] is the page with its assets, packed beforehand and chosen by Accept-Encoding. A [Shelf] holds
// the runs that are handed out: exactly the files that were named ([Named]), those that
// are found again behind names ([Followed]), or what lies below a folder ([Below]).
// A [Server] puts a guard in front of both.
//
// Routes, all for GET and HEAD alone:
//
//	/                     the page, or the list of runs where there are several to choose from
//	/run/<run>            the page on one of them
//	/assets/…             what the page loads
//	/runs                 JSON: the runs
//	/runs/<run>           JSON: the files of one, in their visible order
//	/runs/<run>/<file>    bytes of one file, whole or one range
//	/healthz              "ok"
//
// The guard answers requests that name an expected host only, so that a foreign site cannot reach the server under
// a name of its own; it refuses bodies, foreign sites on the routes of data, and every other method. Each answer
// carries the headers of the design's table of modes (§5). The server listens on loopback unless it is told
// otherwise, never writes to a file and never calls out.
package server
