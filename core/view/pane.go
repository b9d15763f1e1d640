package view

import "github.com/rollscope/rollscope/core/analysis"

// A pane is a tab whose evidence not every run has.
type pane struct {
	// there tells whether a run has the evidence. Only then the tab is shown.
	there func(d *Desk, c *selection) bool
	// probe is the id of the [Probe] that the tab needs of every row, "" for none.
	probe string
	// show makes the tab. needs lists bytes that must be supplied first, as those of [Desk.Page].
	show func(d *Desk, c *selection, r *request) (needs []Need)
	// table makes the rows from one on up to another of a table of the tab, for its window, for copies and for files; ok
	// is false where the tab has no such table. It may be nil.
	table func(d *Desk, c *selection, r *request, id string, from, to int) (t Table, ok bool)
	// charts lists the charts of a page that shows the tab, for files. It may be nil.
	charts func(p *Page) []Chart
	// download makes the content of a file that the tab offers; ok is false where it offers no such file. It may be nil.
	download func(d *Desk, c *selection, r *request, name string) (content []byte, ok bool, err error)
}

// A request is what a pane makes a part of a page for.
type request struct {
	page    *Page
	state   State
	found   *matches
	windows map[string]int // first rows in sight, by table
	pending bool           // what the tab shows is still being read
	host    Host
}

// panes are the tabs beyond those that every run has, by their id in [Tabs].
var panes map[string]*pane

func init() {
	panes = map[string]*pane{
		"coverage": &coveragePane, "scores": &scoresPane, "calls": &callsPane, "performance": &performancePane,
		"harness": &harnessPane, "compare": &comparePane, searchTab: &searchPane,
	}
}

// A Probe is a kind of evidence that is kept of every row only when somebody asks for it, by a second scan.
type Probe struct {
	ID     string
	number uint64 // of the question
	mapper func() analysis.Mapper
}

// probes are all of them.
var probes = []*Probe{callsProbe, harnessProbe}

// ProbeByID gives a Probe, nil if there is none.
func ProbeByID(id string) *Probe {
	for _, p := range probes {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// Number tells the questions of second scans apart. It is never that of a filter.
func (p *Probe) Number() uint64 { return p.number }

// Mapper makes the mapper of a scan.
func (p *Probe) Mapper() analysis.Mapper { return p.mapper() }

// probed gives the answers to a probe as far as they are there, made empty if nobody has asked before. The desk keeps
// them until the list of files changes.
func (d *Desk) probed(p *Probe) *analysis.Answers {
	if d.answers[p.ID] == nil {
		if d.answers == nil {
			d.answers = map[string]*analysis.Answers{}
		}
		d.answers[p.ID] = analysis.NewAnswers(p.number, len(d.sources))
	}
	return d.answers[p.ID]
}

// addProbed takes in a part of a probe and tells whether it was one.
func (d *Desk) addProbed(p *analysis.Partial) bool {
	for _, a := range d.answers {
		if a.Query() == p.Query {
			if a.Add(p) == nil { // one that is there already was scanned twice
				d.chosen.probes++
			}
			return true
		}
	}
	return false
}

// unprobed lists the ranges of the selection that have no answer to a probe yet.
func (d *Desk) unprobed(c *selection, p *Probe, f func(source int, r analysis.Range)) {
	c.unanswered(d.probed(p), f)
}

// probedAll tells whether every row of the selection has an answer.
func (d *Desk) probedAll(c *selection, p *Probe) bool {
	all := true
	d.unprobed(c, p, func(int, analysis.Range) { all = false })
	return all
}

// pane gives the pane of a State, nil where it shows none.
func (d *Desk) pane(s State) *pane {
	if s.Rollout != "" {
		return nil
	}
	return panes[s.Tab]
}

// paneTable makes a part of a table of the tab that a State shows.
func (d *Desk) paneTable(c *selection, s State, id string, from, to int) (Table, bool) {
	p := d.pane(s)
	if p == nil || p.table == nil {
		return Table{}, false
	}
	return p.table(d, c, d.request(c, s), id, from, to)
}

// request is what is asked of a pane outside of a page.
func (d *Desk) request(c *selection, s State) *request {
	probe := d.wanted(s)
	return &request{page: new(Page), state: s, found: d.filter(c, s), pending: !c.table.Complete() || probe != nil && !d.probedAll(c, probe)}
}

// wanted is the probe that a State needs, nil for none.
func (d *Desk) wanted(s State) *Probe {
	if p := d.pane(s); p != nil && p.probe != "" {
		return ProbeByID(p.probe)
	}
	return nil
}
