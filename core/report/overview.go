package report

import (
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/verify"
	"github.com/rollscope/rollscope/core/view"
)

// Pages are the pages that a report is made of. Those of tabs that a run has no evidence for are nil.
type Pages struct {
	Overview    *view.Page
	Scores      *view.Page
	Performance *view.Page
	Rollouts    *view.Page // of the filter, nil without one
}

// Bounds of what a document lists.
const (
	mostEyes     = 100
	mostFindings = 100
	mostRollouts = 200
)

// Overview makes the Overview of a run a document: is it complete, is it healthy, what is the score, what took how
// long, and what needs eyes, with its places. audited is what the files say about each other, failed why that is not
// known.
func Overview(p Pages, audited *verify.Report, failed error) *Document {
	d := &Document{Title: strings.TrimSuffix(p.Overview.Title, " – "+p.Overview.Brand)}
	for _, t := range p.Overview.Foot {
		d.Lines = append(d.Lines, t.Text)
	}
	filtered := p.Overview.Filter.Text
	if filtered != "" && p.Rollouts != nil {
		d.Lines = append(d.Lines, "filter: "+filtered+" ("+p.Rollouts.Filter.Count+" "+p.Rollouts.Filter.Unit+")")
	}
	d.Sections = append(d.Sections, complete(p.Overview, audited, failed))
	if o := p.Overview.Overview; o != nil {
		for _, panel := range o.Panels {
			if panel.Title == "Healthy" {
				d.Sections = append(d.Sections, ofPanel(panel))
			}
		}
	}
	d.Sections = append(d.Sections, score(p.Scores, filtered), time(p.Overview, p.Performance, filtered), eyes(p.Overview))
	if p.Rollouts != nil && p.Rollouts.Rollouts != nil {
		t := fromTable(p.Rollouts.Rollouts.Table, mostRollouts)
		t.Title = ""
		d.Sections = append(d.Sections, Section{Title: "Rollouts that fit the filter", Number: view.Group(p.Rollouts.Filter.Shown),
			Of: "of " + view.Group(p.Rollouts.Filter.Total), Tables: []Table{t}})
	}
	return d
}

func ofPanel(p view.Panel) Section {
	s := Section{Title: p.Title, Number: p.Number.Text, Of: p.Of, Parts: p.Shares}
	for _, l := range p.Lines {
		s.Lines = append(s.Lines, Line{Text: l.Text, Value: l.Right})
	}
	if p.Table != nil {
		s.Tables = append(s.Tables, fromTable(*p.Table, mostRollouts))
	}
	return s
}

// complete says what was read, and of every run what became of the rollouts that were asked for.
func complete(p *view.Page, audited *verify.Report, failed error) Section {
	s := Section{Title: "Complete"}
	if o := p.Overview; o != nil {
		for _, panel := range o.Panels {
			if panel.Title == "Read" || panel.Title == "Complete" {
				s = ofPanel(panel)
				s.Title = "Complete"
			}
		}
	}
	for _, a := range p.Alerts {
		text := a.Text
		if a.Place.Text != "" {
			text += " (" + a.Place.Text + ")"
		}
		s.Notes = append(s.Notes, text)
	}
	if audited == nil {
		why := "the files were not compared with each other"
		if failed != nil {
			why += ": " + failed.Error()
		}
		s.Notes = append(s.Notes, why+".")
		return s
	}
	cover := Table{Title: "what became of the rollouts that were asked for", Columns: []Column{{Title: "run", Mono: true}, {Title: "asked for", Right: true}, {Title: "completed", Right: true},
		{Title: "failed", Right: true}, {Title: "omitted", Right: true}, {Title: "unknown", Right: true}}}
	for _, run := range audited.Runs {
		if c := run.Coverage; c != nil {
			row := []string{run.Key}
			for _, n := range []int64{c.Expected, c.Successful, c.Failed, c.Omitted, c.Unknown} {
				row = append(row, view.Group(n))
			}
			cover.Rows = append(cover.Rows, row)
		}
	}
	if len(cover.Rows) > 0 {
		s.Tables = append(s.Tables, cover)
	} else {
		s.Notes = append(s.Notes, "What was asked for is not known: there are no materialized inputs and no manifest.")
	}
	found := Table{Title: "what the files say about each other", Columns: []Column{{Title: "severity"}, {Title: "finding", Mono: true}, {Title: "place", Mono: true}, {Title: "what"}}}
	for _, severity := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		for i := range audited.Findings {
			f := &audited.Findings[i]
			if f.Severity != severity {
				continue
			}
			if len(found.Rows) == mostFindings {
				found.More++
				continue
			}
			found.Rows = append(found.Rows, []string{string(f.Severity), f.ID, placeOf(f), f.Message()})
		}
	}
	if len(found.Rows) > 0 {
		s.Tables = append(s.Tables, found)
	}
	return s
}

// placeOf is the place of a finding about files.
func placeOf(f *finding.Finding) string {
	switch {
	case f.File == "":
		return f.Run
	case f.Line > 0:
		return f.File + ":" + strconv.FormatInt(f.Line, 10)
	}
	return f.File
}

func score(p *view.Page, filtered string) Section {
	s := Section{Title: "Score"}
	if p == nil || p.Scores == nil {
		s.Notes = []string{"No row has a reward."}
		return s
	}
	v := p.Scores
	s.Number, s.Of = v.Number.Value.Text, v.Name
	if v.Number.Note.Text != "" {
		s.Of += ", " + v.Number.Note.Text
	}
	s.Parts = v.Parts
	s.Lines = fromFacts(v.Facts)
	for _, t := range append(append([]view.Text{}, v.Lines...), v.Notes...) {
		s.Notes = append(s.Notes, t.Text)
	}
	s.Notes = append(s.Notes, offilter(filtered)...)
	if len(v.Passes.Rows) > 0 {
		s.Tables = append(s.Tables, fromTable(v.Passes, mostRollouts))
	}
	return s
}

func time(over, p *view.Page, filtered string) Section {
	s := Section{Title: "Time"}
	if o := over.Overview; o != nil && filtered == "" {
		for _, panel := range o.Panels {
			if panel.Title == s.Title {
				s.Number, s.Of = panel.Number.Text, panel.Of
			}
		}
	}
	if p == nil || p.Performance == nil {
		s.Notes = []string{"No row tells how long it took."}
		return s
	}
	v := p.Performance
	s.Lines = fromFacts(v.Facts)
	for _, note := range []string{v.Note, v.Empty, v.Verdict} {
		if note != "" {
			s.Notes = append(s.Notes, note)
		}
	}
	s.Notes = append(s.Notes, offilter(filtered)...)
	if len(v.Slowest.Rows) > 0 {
		s.Tables = append(s.Tables, fromTable(v.Slowest, 10))
	}
	return s
}

func offilter(filtered string) []string {
	if filtered == "" {
		return nil
	}
	return []string{"Of the rollouts that fit the filter."}
}

func eyes(p *view.Page) Section {
	s := Section{Title: "What needs your eyes"}
	if p.Overview == nil {
		return s
	}
	t := fromTable(p.Overview.Eyes, mostEyes)
	t.Title = ""
	s.Tables = []Table{t}
	if note := p.Overview.Eyes.Note; note != "" && len(t.Rows) > 0 {
		s.Notes = append(s.Notes, note)
	}
	return s
}
