package web

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/view"
)

// A Region is a part of the page that is replaced as a whole. The element that holds it has the id
// "region-" and the name.
type Region struct {
	Name      string
	Component templ.Component
}

// Regions gives the regions of a Page in the order they stand in the document: bar, filter, progress, alerts, main,
// foot, stats. A region that has nothing to show is empty, never absent.
func Regions(p view.Page) []Region {
	return []Region{
		{"bar", bar(p)},
		{"filter", filter(p)},
		{"progress", progress(p)},
		{"alerts", alerts(p)},
		{"main", content(p)},
		{"foot", foot(p)},
		{"stats", stats(p)},
	}
}

// DocumentOptions say what a document carries beside its Page.
type DocumentOptions struct {
	StyleHref string // address of the stylesheet, or
	Style     string // its text, to stand in the document

	ScriptSrc string // address of the page's script, or
	Script    string // its text

	CSP  string // policy for a meta element; "" where a header carries it
	Mode string // data-mode: how the page was delivered
	Runs string // data-runs: address of the list of files a server hands out

	Follow bool // data-follow: that list is asked for again and again

	Bundle string // data-bundle: id of the bundle that the page comes with
	Blocks string // data-blocks: address of the folder of its index and blocks; "" where they stand in the document

	Offline string // data-offline: address of the service worker of a static folder

	Sample bool // data-sample: the sample run is opened at the start

	Keys []view.Command // for the sheet of keys

	Head templ.Component // more of the head, behind the policy
	Tail templ.Component // end of the body, in front of an inlined script
}

// inline writes an element whose content is no markup. Text that would end the element early cannot be written.
func inline(tag, content string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		lower := strings.ToLower(content)
		if strings.Contains(lower, "</"+tag) || strings.Contains(lower, "<!--") {
			return fmt.Errorf("text of the %s element would end it early", tag)
		}
		_, err := io.WriteString(w, "<"+tag+">"+content+"</"+tag+">")
		return err
	})
}

// current is the run that the switcher shows.
func current(runs []view.RunChoice) view.RunChoice {
	for _, r := range runs {
		if r.Current {
			return r
		}
	}
	return runs[0]
}

// spoken is what a screen reader hears of the progress: it changes every ten per cent, not with every batch.
func spoken(p *view.Progress) string {
	if p.Cancelled {
		return "reading " + plain(p.Name) + " was cancelled"
	}
	return fmt.Sprintf("reading %s, %d %%", plain(p.Name), min(max(p.Percent, 0), 100)/10*10)
}

// unshown gives the stats of a Page that none of its visible parts carries, each name once for each run.
func unshown(p view.Page) []view.Stat {
	shown := map[view.Stat]bool{}
	for _, name := range carried(p) {
		shown[view.Stat{Name: name}] = true
	}
	var list []view.Stat
	for _, s := range p.Stats {
		key := view.Stat{Name: s.Name, Run: s.Run}
		if !shown[key] {
			shown[key] = true
			list = append(list, s)
		}
	}
	return list
}

// carried lists the names of the stats that visible parts of a Page carry.
func carried(p view.Page) []string {
	var names []string
	add := func(name string) {
		if name != "" {
			names = append(names, name)
		}
	}
	facts := func(list []view.Fact) {
		for _, f := range list {
			add(f.Stat)
		}
	}
	shares := func(list []view.Share) {
		for _, s := range list {
			add(s.Stat)
		}
	}
	var table func(view.Table)
	table = func(t view.Table) {
		for _, r := range t.Rows {
			for _, c := range r.Cells[:min(len(r.Cells), len(t.Columns))] {
				add(c.Stat)
			}
			if r.Open != nil && !t.Window {
				for _, inner := range r.Open.Tables {
					table(inner)
				}
			}
		}
	}
	switch {
	case p.Overview != nil:
		for _, panel := range p.Overview.Panels {
			shares(panel.Shares)
			if panel.Table != nil {
				table(*panel.Table)
			}
		}
		table(p.Overview.Eyes)
	case p.Rollouts != nil:
		facts(p.Rollouts.Facts)
		table(p.Rollouts.Table)
	case p.Tasks != nil:
		facts(p.Tasks.Facts)
		table(p.Tasks.Table)
	case p.Health != nil:
		shares(p.Health.Shares)
		facts(p.Health.Facts)
		table(p.Health.Checks)
	case p.Files != nil:
		facts(p.Files.Facts)
		table(p.Files.Read)
		table(p.Files.Others)
		table(p.Files.Refused)
	case p.Coverage != nil:
		facts(p.Coverage.Facts)
		for _, t := range []view.Table{p.Coverage.Saved, p.Coverage.Legacy} {
			table(t)
		}
	case p.Rollout != nil:
		for _, g := range p.Rollout.Facts {
			facts(g.Facts)
		}
	case p.Missing != nil:
		table(p.Missing.Table)
	}
	return names
}

// chords writes the chords of a command for the script: one a line.
func chords(c view.Command) string { return strings.Join(c.Keys, "\n") }

// documentTitle is the text of the title element, which shows control characters as they are.
func documentTitle(p view.Page) string {
	if p.Title == "" {
		return plain(p.Brand)
	}
	return plain(p.Title)
}
