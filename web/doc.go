// Package web is the look of the page: templ components that write a [view.Page] as HTML, and the stylesheet.
//
// The same components run on the server, for the first paint, and inside the wasm module, for every change after
// it; they ask for no clock, no network and no chance, so a Page always gives the same bytes. Nothing is decided
// here: numbers, words, links and their order come ready from core/view.
//
// Its nouns: the [Document] is written once and holds the regions. A [Region] is a part of the page that the script
// replaces as a whole: the element with the id "region-<name>". A window is the part of a long table that is in
// sight; [WindowRows] writes its rows alone.
//
// # Rules of the markup
//
// There is no style attribute and no inline handler, since the page's policy forbids both. Lengths that depend on
// data are SVG geometry, col widths and the height attribute of spacer cells. Texts pass through [Visible], so that
// control, direction and zero-width characters of a file are seen and cannot rearrange the page. A link leads to
// another State ("#…") or is not written at all. An image is a data URL of a bitmap, or is not written.
//
// # For the page's script
//
// Beside the public data-* contract, the script finds:
//
//	button[data-action]           open-files, open-folder, sample, theme, keys, cancel, clear-recent, skip, mistake
//	label[data-action=open-…]     label of a file input that also takes Enter and Space
//	[data-filter-input]           the filter text; [data-filter] around it is hidden on a rollout's page
//	[data-download], [data-copy]  actions of the engine: the file name, what is copied; with data-of the whole of that
//	                              table, in the form that the name ends with or that is copied
//	[data-save] a                 a choice to keep: "profile" or "columns.<tab>", taken from the link
//	[data-chooser]                the columns of the table, links that are boxes
//	th[data-column][data-movable] a head that can be moved and, by its [data-grip], resized; data-width where it was
//	[data-sight]                  which rows of that table are in sight; kept up to date by the script
//	#offers [data-insert]         what can stand at the cursor of the filter
//	#commands [data-run]          the table of commands: data-keys has a chord a line; [data-palette] finds one by name
//	tr[data-href]                 a click anywhere in the row goes there
//	[data-target=ID]              a link that also scrolls the element with that id into sight
//	section[data-turn=N]          a turn; aria-current stands on the one the State names
//	[data-chunk=N]                turns of a transcript, data-turns of them; one without children is asked for when it
//	                              comes into sight
//	[data-table]                  data-total, data-height (px of a row), data-from, and data-window when rows are
//	                              asked for; inside, tbody[data-rows] holds the rows and the only cells of
//	                              tbody[data-space=above] and tbody[data-space=below] have the height of the rest
//	canvas[data-grid]             the cells of the table's grid column: data-columns of them in a row, data-cell px wide;
//	                              drawn by the script in the colours of the page and the shapes of its legend
//	[data-recent]                 hidden list of names; template[data-recent-item] is one entry of it
//	[data-say]                    a sentence that the script puts into #live when it has changed
//	html[data-drag]               set while files hang over the window
//	dialog#keys                   the sheet of keys
package web
