// Package e2e holds the page in a real browser against the command line.
//
// Files go in as a person puts them in, by the file dialogs' inputs or by a drop; numbers come out through the
// page's data-* contract; reports are saved by the browser and compared with the command's, byte for byte.
//
// Its nouns: a [Product] is the command as it is built from the sources beside this module. A [Browser] is one
// headless Chromium for all tests. A [Page] is a tab of it with storage of its own; its methods are named by what a
// user does and reads. A [Sink] is a server that nobody may reach.
//
// Nothing here waits by the clock. A page is asked once, and its answer comes when what is asked for has happened;
// a limit only ends a test that would wait for ever. At its end every page fails its test when it has written an
// error to the console, thrown an exception or violated its policy, unless the test said that it would.
//
// The tests are run by
//
//	cd wasm/e2e && go test -count=1 ./...
//
// (a cached result would not know of changes of the main module) and need Chromium: "make browser" at the top of the
// project installs it. Their flags are -shots DIR, which keeps pictures ("make shots" those of every view), -long, which also
// reads a line of 300 MB and a run of that size, -wait TIME, after which a page that does not answer is given up, and -bin FILE, a command that is built already.
package e2e
